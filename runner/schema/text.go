package schema

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Relative is a path as seen from the first of several directories that it is in; unchanged
// if it is in none.
func Relative(path string, dirs ...string) string {
	for _, dir := range dirs {
		if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
			return inside
		}
	}
	return path
}

// Plural is a count and a noun, such as "184 lines".
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Span is a duration for people, with three significant digits, whole seconds at
// most: "212ms", "2.13s", "3m20s".
func Span(d time.Duration) string {
	digits := math.Floor(math.Log10(math.Max(float64(d), 1))) + 1
	return d.Round(min(time.Duration(math.Pow10(int(max(digits-3, 0)))), time.Second)).String()
}

// MaxDuration is a hundred years, far below the limit of time.Duration.
const MaxDuration = 100 * 365 * 24 * time.Hour

// ParseDuration parses a duration as flags, manifests and requests have it: "30s", "1m30s"
// or a number of seconds. It is not ok if it is negative or above a hundred years. Only a
// zero becomes 0, which often means no limit: less than a nanosecond becomes one.
func ParseDuration(text string) (d time.Duration, ok bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		d = time.Duration(seconds * float64(time.Second))
		ok = seconds >= 0 && seconds <= MaxDuration.Seconds() // false for NaN, too
	} else {
		d, err = time.ParseDuration(text)
		ok = err == nil && d >= 0 && d <= MaxDuration
	}
	if number, _, _ := strings.Cut(strings.ToLower(text), "e"); ok && d == 0 && strings.ContainsAny(number, "123456789") {
		d = 1
	}
	return d, ok
}
