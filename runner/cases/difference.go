package cases

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Shown returns lines that show how the returned value differs from the expected one, or "" if d
// has no values.
func (d *Difference) Shown() string {
	wanted, got := differing(d.Wanted, d.Got)
	switch diff := textDiff(d.Wanted, d.Got); {
	case diff != "":
		return diff
	case d.Wanted != nil || d.Place != "":
		return "wanted: " + wanted + "\ngot:    " + got
	case d.Got != nil:
		return "got: " + got
	}
	return ""
}

// around is the number of bytes shown before and after the first byte that differs.
const around = 250

// differing returns two JSON values for a message, cut to the part around the first byte that
// differs.
func differing(wanted, got json.RawMessage) (a, b string) {
	same := 0
	for same < min(len(wanted), len(got)) && wanted[same] == got[same] {
		same++
	}
	shown := func(value json.RawMessage) string {
		if value == nil {
			return "nothing"
		}
		text := string(value)
		if len(text) > same+around {
			text = text[:same+around] + "…"
		}
		if same > 2*around {
			text = "…" + text[same-around:]
		}
		return strings.ToValidUTF8(text, "")
	}
	return shown(wanted), shown(got)
}

// textDiff returns the lines that differ between two JSON strings, and the equal line before them.
// It returns "" if a value is not a string, or no string has several lines.
func textDiff(wanted, got json.RawMessage) string {
	const maxLines = 20 // the maximum number of shown lines of each string
	var w, g string
	if wanted == nil || got == nil || json.Unmarshal(wanted, &w) != nil || json.Unmarshal(got, &g) != nil || !strings.Contains(w+g, "\n") {
		return ""
	}
	a, b := strings.Split(w, "\n"), strings.Split(g, "\n")
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for len(a) > head && len(b) > head && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	text := fmt.Sprintf("line %d of the text:\n", head+1)
	if head > 0 {
		text += "  " + a[head-1] + "\n"
	}
	for _, side := range []struct {
		mark  string
		lines []string
	}{{"- ", a[head:]}, {"+ ", b[head:]}} {
		for _, line := range side.lines[:min(len(side.lines), maxLines)] {
			text += side.mark + line + "\n"
		}
	}
	return text
}
