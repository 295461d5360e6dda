package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// span writes a duration for people: "212 ms", "2.1 s", "3 min 20 s".
func span(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	const day = 24 * time.Hour
	return fmt.Sprintf("%d days %d h", d/day, d%day/time.Hour)
}

// age is span in whole seconds and without the smaller unit, such as "3 min".
func age(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	parts := strings.Fields(span(d))
	return parts[0] + " " + parts[1]
}

// growing is span for a duration that is still growing, so that its width seldom
// changes.
func growing(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Truncate(tick).Seconds())
	}
	return span(d)
}

// digits is a duration with three significant digits.
func digits(d time.Duration) string {
	unit, name := time.Microsecond, "µs"
	switch { // 999.5 would be rounded to 1000
	case d >= 999_500*time.Microsecond:
		unit, name = time.Second, "s"
	case d >= 999_500*time.Nanosecond:
		unit, name = time.Millisecond, "ms"
	}
	text := fmt.Sprintf("%#.3g", float64(d)/float64(unit))
	return strings.TrimSuffix(text, ".") + " " + name
}
