package interp

import "testing"

// TestPoetrySpec checks constraints that poetry's parse_constraint reads.
func TestPoetrySpec(t *testing.T) {
	for constraint, want := range map[string]string{
		"^3.11":             ">=3.11,<4",
		"^3.11.2":           ">=3.11.2,<4",
		"~3.11":             ">=3.11,<3.12",
		"~3.11.2":           ">=3.11.2,<3.12",
		"~3":                ">=3,<4",
		"~=3.11":            "~=3.11",
		">=3.9,<4.0":        ">=3.9,<4.0",
		">= 3.9, < 4.0":     ">=3.9,<4.0",
		">=3.9 <3.13":       ">=3.9,<3.13",
		">=3.9,!=3.11.*":    ">=3.9,!=3.11.*",
		"3.11.*":            "==3.11.*",
		"== 3.11.*":         "==3.11.*",
		">=3.9.*":           ">=3.9",
		"^3.11rc1":          ">=3.11rc1,<4",
		"=3.11.4":           "==3.11.4",
		"3.11.4":            "==3.11.4",
		"<>3.10.1":          "!=3.10.1",
		"*":                 "",
		"~2.7 || ^3.6":      ">=3.6,<4",
		"^2.7 | ~3.5":       ">=3.5,<3.6",
		"~3.9 || >=3.11,<4": "!=3.10.*",
		"":                  "junk", "^": "junk", "3.11 or later": "junk", "^3.11 ||": "junk", "latest": "junk", ">=": "junk", "^^3": "junk", "3.x": "junk", ">=3.9;": "junk",
	} {
		got, ok := PoetrySpec(constraint)
		if !ok {
			got = "junk"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", constraint, got, want)
		}
		if bad := BadClause(got); ok && bad != "" {
			t.Errorf("%q: %q is no specifier", constraint, bad)
		}
	}
}
