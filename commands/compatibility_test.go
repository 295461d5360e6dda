package commands_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCompatibility checks that the tables of docs/compatibility.md have the packages and versions
// that scripts install.
func TestCompatibility(t *testing.T) {
	text, err := os.ReadFile("docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, installed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` (\\S+) \\|").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, row[1]+"=="+row[2])
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range regexp.MustCompile(`(?m)^packages (.*)$`).FindAllStringSubmatch(string(text), -1) {
			installed = append(installed, strings.Fields(line[1])...)
		}
	}
	slices.Sort(documented)
	slices.Sort(installed)
	if installed = slices.Compact(installed); !slices.Equal(documented, installed) {
		t.Errorf("docs/compatibility.md has\n%q, the scripts install\n%q", documented, installed)
	}
}
