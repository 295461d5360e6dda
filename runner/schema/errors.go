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

// ArgumentError reports an argument that cannot be read or does not fit its hook.
type ArgumentError struct {
	// Place is the parameter or the path of the field, such as "address.zip" or
	// "items[3]"; empty if the error is not about one of them.
	Place string
	// Problem names what is wrong and what was expected.
	Problem string
	// Unknown is the name that no parameter or field has, or empty.
	Unknown string
	// Word is the [Word.Number] of the word that has the name Unknown or, if Unknown is
	// empty, that the hook does not accept; 0 if no single word is wrong.
	Word int
	// Err is the cause, such as the error of reading a file, or nil.
	Err error
	// Hints say what to do.
	Hints []Hint
}

// Error is the problem.
func (e *ArgumentError) Error() string { return e.Problem }

// Unwrap returns the cause.
func (e *ArgumentError) Unwrap() error { return e.Err }

// ArgumentErrorf reports a problem with place, without hints.
func ArgumentErrorf(place, format string, args ...any) *ArgumentError {
	return &ArgumentError{Place: place, Problem: fmt.Sprintf(format, args...)}
}

// BadValue reports a value that does not fit the type of place.
func BadValue(place, seen, want string, hints ...Hint) *ArgumentError {
	e := ArgumentErrorf(place, "%s is %q, want %s", Short(place), Short(seen), want)
	e.Hints = hints
	return e
}

// DidYouMean returns the hint that suggests a name, or nil if the name is empty.
func DidYouMean(name string) []Hint {
	if name == "" {
		return nil
	}
	return Hints("did you mean %s?", name)
}

// NoHookError reports that a plugin has no such hook.
type NoHookError struct {
	Hook string
	// Known lists the hooks that the plugin has.
	Known []string
	// Why is the reason, such as "`os` is imported, not defined here"; it may be
	// empty.
	Why string
}

// Error is the reason.
func (e *NoHookError) Error() string {
	if e.Why != "" {
		return "no such hook: " + e.Why
	}
	return "no such hook"
}

// Hints suggests the most similar hook, or lists the hooks if none is similar.
func (e *NoHookError) Hints() []Hint {
	if s := Suggest(e.Hook, e.Known); s != "" || len(e.Known) == 0 {
		return DidYouMean(s)
	}
	return Hints("its hooks are %s", list(e.Known, 10))
}

// MissingModuleError reports that a plugin imports a module that does not exist.
type MissingModuleError struct {
	// Module is its dotted name, as far as Python names it.
	Module string
	// Text is Python's own message.
	Text string
	// File imports it. It is empty if it is not known.
	File Path
	// Unfound lists the imports of the plugin's own files that Python cannot make. It is empty if the
	// plugin has started.
	Unfound []Unfound
}

// Unfound is an import of a top-level module that does not exist. Module is the longest dotted name in it.
type Unfound struct {
	Module string `json:"module"`
	File   Path   `json:"file"`
	Line   int    `json:"line"`
}

// Error is Python's own message.
func (e *MissingModuleError) Error() string { return e.Text }

// OneOf lists the choices, at most the first 20.
func OneOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return "one of " + list(names, 20)
}

// list joins at most most names.
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

// Suggest returns the name in known that the user probably meant, or "": the nearest by edit
// distance, the first of several. It begins with the same letter. At most three bytes, and at most
// a third of the longer word, may differ. The same letters in another order are one difference.
// Case does not count.
func Suggest(word string, known []string) string {
	const longest = 100 // bounds the work
	sorted := func(text string) string { return string(slices.Sorted(slices.Values([]byte(text)))) }
	best, nearest := "", 4
	for _, candidate := range known {
		typed, wanted := strings.ToLower(word), strings.ToLower(candidate)
		if candidate == word || len(typed) > longest || len(wanted) > longest || typed == "" || wanted == "" || typed[0] != wanted[0] {
			continue
		}
		d := smetrics.WagnerFischer(typed, wanted, 1, 1, 1)
		if sorted(typed) == sorted(wanted) {
			d = min(d, 1)
		}
		if d < nearest && d <= max(len(typed), len(wanted))/3 {
			best, nearest = candidate, d
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

// ParseDuration parses a duration as flags, manifests and requests have it: "30s", "1m30s"
// or a number of seconds. ok is false if it is malformed, negative or above a hundred
// years. A positive duration below a nanosecond becomes 1 ns, because 0 often means no
// limit.
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
