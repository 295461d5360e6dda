package schema

import (
	"fmt"
	"math"
	"time"
)

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
