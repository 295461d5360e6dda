package ui

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// span writes a duration for people, with three significant digits, whole seconds at
// most: "212ms", "2.13s", "3m20s".
func span(d time.Duration) string {
	digits := math.Floor(math.Log10(math.Max(float64(d), 1))) + 1
	return d.Round(min(time.Duration(math.Pow10(int(max(digits-3, 0)))), time.Second)).String()
}

// plural is a count and a noun, such as "184 lines".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// table lays rows out in columns, the titles first, and returns a line for each. A
// column that is empty but for its title is left out.
func table(rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, text := range row {
			if slices.ContainsFunc(rows[1:], func(below []string) bool { return below[i] != "" }) {
				_, _ = w.Write([]byte(visible(oneLine(text)) + "\t")) // a Builder takes everything
			}
		}
		_, _ = w.Write([]byte("\n"))
	}
	_ = w.Flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
