package ui

import (
	"slices"
	"strings"
	"text/tabwriter"
)

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
