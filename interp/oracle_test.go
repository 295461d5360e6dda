package interp_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestPackaging compares the results of specifiers with those of the package "packaging".
func TestPackaging(t *testing.T) {
	python := runnertest.Packages(t, "packaging==26.0")
	releases := strings.Fields(`3 3.0 3.9 3.11 3.12 3.12.0 3.12.4 3.12.5 3.13 3.13.0 3.13.1 3.14.0 4 4.0 03.012 3.12.0.0 3.12.4.0 3.12.4.1 0!3.12 1!3.12 0
		99999999999999999999.1 3.12rc1 3.12.0rc1 3.12.4b2 3.12.4-alpha.1 3.12.4_c 3.13.0.preview 3.12.4.post1 3.12.4-1 3.12.4rev2 3.12.4r 3.12.4.dev1
		3.13.dev 3.12.4a1.dev2 3.12.4rc1.post2 3.12.4.post1.dev3 3.12.4+local 3.12+abc.1 3.12.4+A_b-1 v3.12 V3.12.4 3.* 3.12.* 3.12.4.* 3.13.*
		0!3.12.* 1!3.12.* 3.12.4.5.* 3.12rc1.* 3.12.dev1.* 3.12.4+local.* * x 3.x 3..12 3.12. .3 3.12.4+ 3.12.4++a 3.12-rc 3.12.4-post-1 3.12-dev4
		3.12.4rc1rc2 3.12.4.final ٣.١٢ 3.12\t`)
	var specs []string
	for _, op := range []string{"==", "!=", ">=", "<=", ">", "<", "~=", "===", "=", "=>", "^", ""} {
		for _, release := range append(releases, "") {
			specs = append(specs, op+release, op+" "+release)
		}
	}
	specs = append(specs, "", " ", ",", ">=3.11,<3.13", ">=3.11 , !=3.12.*,", ">=3.11 <3.13", ">=3.11;", ">= v3.9", "> =3.11", ">=3.11,x", ">=3.11,,<4", "(>=3.11)")
	versions := []string{"3.8.0", "3.9.18", "3.11.0", "3.12.0", "3.12.3", "3.12.4", "3.12.5", "3.13.0", "3.13.1", "3.14.0"}
	asked, err := json.Marshal([]any{specs, versions})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import json, sys
from packaging.specifiers import SpecifierSet, InvalidSpecifier
specs, versions = json.load(sys.stdin)
def judge(spec):
    try: s = SpecifierSet(spec)
    except InvalidSpecifier: return None
    return "".join("01"[s.contains(v, prereleases=True)] for v in versions)
print(json.dumps([judge(s) for s in specs]))
`)
	cmd.Stdin = strings.NewReader(string(asked))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []*string
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	// packaging takes the prefix of ~= from the version as written. With these spellings no version
	// matches it.
	faults := []string{"v3.12", "V3.12.4", "3.12.4-alpha.1", "3.13.0.preview"}
	for i, spec := range specs {
		if version, ok := strings.CutPrefix(spec, "~="); ok && slices.Contains(faults, strings.TrimSpace(version)) {
			continue
		}
		got, valid := "", true
		for _, version := range versions {
			allowed, ok := interp.Allows(spec, version)
			valid = valid && ok
			got += map[bool]string{true: "1", false: "0"}[allowed]
		}
		if valid != (want[i] != nil) || valid && got != *want[i] {
			t.Errorf("%q: valid %v, got %s, want %v", spec, valid, got, show(want[i]))
		}
	}
	t.Logf("%d specifiers, %d versions", len(specs), len(versions))
}

func show(verdicts *string) string {
	if verdicts == nil {
		return "invalid"
	}
	return *verdicts
}
