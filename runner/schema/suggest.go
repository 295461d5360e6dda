package schema

import "strings"

// Suggest returns the one of known that the user probably meant, or "": the
// nearest by edit distance, the first of several equally near. It begins with the same
// letter or with the first two swapped, and at most a third of the longer word's
// letters differ, but no more than three. Two swapped letters count as one difference,
// and case does not count.
func Suggest(word string, known []string) string {
	const longest = 100 // bounds the work
	if len(word) > longest {
		return ""
	}
	typed := []rune(strings.ToLower(word))
	best, nearest := "", 0
	for _, candidate := range known {
		if candidate == word || len(candidate) > longest {
			continue
		}
		wanted := []rune(strings.ToLower(candidate))
		d := distance(typed, wanted)
		if d > min(3, max(len(typed), len(wanted))/3) || !sameStart(typed, wanted) {
			continue
		}
		if best == "" || d < nearest {
			best, nearest = candidate, d
		}
	}
	return best
}

func sameStart(a, b []rune) bool {
	return a[0] == b[0] || len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0]
}

// distance counts insertions, deletions, changes and swaps of neighbours. It
// keeps three rows of the usual table.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
