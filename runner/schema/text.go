package schema

import (
	"fmt"
	"math"
	"path/filepath"
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
