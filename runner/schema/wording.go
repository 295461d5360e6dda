package schema

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xrash/smetrics"
)

// OneOf lists at most the first 20 choices.
func OneOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return "one of " + list(names, 20)
}

// list joins at most the given number of names.
func list(names []string, most int) string {
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}

// Joined returns "a", "a and b" or "a, b and c".
func Joined(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Suggest returns the name in known that the user probably meant, or "". This is the nearest name
// by edit distance, or the first of several. It begins with the same letter. At most three bytes,
// and at most a third of the longer word, may differ. The same letters in another order count as
// one difference. Case does not matter.
func Suggest(word string, known []string) string { return nearest(word, known, 3) }

// Misspelled is like [Suggest], for similar names: only one byte may differ.
func Misspelled(word string, known []string) string { return nearest(word, known, 1) }

func nearest(word string, known []string, most int) string {
	const longest = 100 // limits the work
	sorted := func(text string) string { return string(slices.Sorted(slices.Values([]byte(text)))) }
	best, least := "", most+1
	for _, candidate := range known {
		typed, wanted := strings.ToLower(word), strings.ToLower(candidate)
		if candidate == word || len(typed) > longest || len(wanted) > longest || typed == "" || wanted == "" || typed[0] != wanted[0] {
			continue
		}
		d := smetrics.WagnerFischer(typed, wanted, 1, 1, 1)
		if sorted(typed) == sorted(wanted) {
			d = min(d, 1)
		}
		if d < least && d <= max(len(typed), len(wanted))/3 {
			best, least = candidate, d
		}
	}
	return best
}

// Relative returns a path relative to the first of dirs that contains it. If none does, it
// returns the path unchanged.
func Relative(path string, dirs ...string) string {
	for _, dir := range dirs {
		if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
			return inside
		}
	}
	return path
}

// Plural returns a count and a noun, such as "184 lines".
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Span formats a duration for people with three significant digits, or to the second if it
// is long: "212ms", "2.13s", "3m20s".
func Span(d time.Duration) string {
	digits := math.Floor(math.Log10(math.Max(float64(d), 1))) + 1
	return d.Round(min(time.Duration(math.Pow10(int(max(digits-3, 0)))), time.Second)).String()
}

// MaxDuration is a hundred years, far below the limit of time.Duration.
const MaxDuration = 100 * 365 * 24 * time.Hour

// ParseDuration parses a duration in the form of flags, manifests and requests: "30s", "1m30s" or a
// number of seconds. ok is false if it is malformed, negative or above a hundred years. A positive
// duration below a nanosecond becomes 1 ns, because 0 often means no limit.
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
