package check

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// pb2 is what protoc writes of versions.
func pb2(numbers string) string {
	return "from google.protobuf import descriptor as _descriptor\nfrom google.protobuf import runtime_version as _runtime_version\n" +
		"_runtime_version.ValidateProtobufRuntimeVersion(\n    _runtime_version.Domain.PUBLIC,\n    " + numbers + ",\n    '',\n    'zoo.proto'\n)\n"
}

// runtimeOf is a protobuf of a version that only compares.
func runtimeOf(version string) map[string]string {
	part := strings.Split(version, ".")
	return map[string]string{
		"site/google/protobuf/__init__.py":   "__version__ = '" + version + "'\n",
		"site/google/protobuf/descriptor.py": "",
		"site/google/protobuf/runtime_version.py": fmt.Sprintf("OSS_MAJOR = %s\nOSS_MINOR = %s\nOSS_PATCH = %s\nOSS_SUFFIX = ''\nMAJOR = OSS_MAJOR\n",
			part[0], part[1], part[2]),
	}
}

// TestRefuses holds the rule against those of protobuf's releases.
func TestRefuses(t *testing.T) {
	lenient := protobuf{sameMajor: true, nextMajor: true, sameSuffix: true}
	strict := protobuf{sameMajor: true, sameSuffix: true}
	for _, c := range []struct {
		rule      protobuf
		has, want release
		suffix    string
		refused   bool
	}{
		{protobuf{none: true}, release{5, 26, 1}, release{5, 27, 0}, "", true},
		{strict, release{5, 27, 5}, release{5, 27, 5}, "", false},
		{strict, release{5, 27, 5}, release{5, 28, 0}, "", true},
		{strict, release{5, 27, 5}, release{4, 27, 0}, "", true},
		{strict, release{5, 27, 5}, release{5, 27, 1}, "-rc1", true},
		{lenient, release{6, 31, 1}, release{6, 31, 1}, "", false},
		{lenient, release{6, 30, 2}, release{6, 31, 1}, "", true},
		{lenient, release{6, 30, 2}, release{5, 29, 5}, "", false},
		{lenient, release{6, 30, 2}, release{5, 31, 0}, "", true},
		{lenient, release{6, 30, 2}, release{4, 29, 5}, "", true},
		{lenient, release{5, 29, 5}, release{6, 30, 0}, "", true},
		{protobuf{}, release{7, 36, 2}, release{5, 27, 0}, "-rc1", false},
		{protobuf{}, release{7, 36, 2}, release{7, 36, 3}, "", true},
		{protobuf{}, release{6, 33, 0}, release{7, 1, 0}, "", true},
		{protobuf{off: true}, release{6, 33, 0}, release{7, 1, 0}, "", false},
	} {
		c.rule.has = c.has
		if why := c.rule.refuses(c.want, c.suffix); (why != "") != c.refused {
			t.Errorf("%s of %s%s: %q, want refused %v", c.has, c.want, c.suffix, why, c.refused)
		}
	}
}

// TestRuntimeVersion reads the rule of the protobuf that is installed, and holds it
// against what that does.
func TestRuntimeVersion(t *testing.T) {
	python := runnertest.GRPCIO(t)
	r := sourceIn(t, python, map[string]string{"plugin.py": ""})
	runtime := look(t.Context(), r).protobuf()
	if runtime == nil || runtime.has == (release{}) {
		t.Fatalf("%+v", runtime)
	}
	var script, mine strings.Builder
	script.WriteString("import warnings\nwarnings.simplefilter('ignore')\nfrom google.protobuf import runtime_version as r\n")
	for _, major := range []int{-2, -1, 0, 1} {
		for _, minor := range []int{-1, 0, 1} {
			want := release{runtime.has[0] + major, runtime.has[1] + minor, runtime.has[2]}
			if slices.Min(want[:]) < 0 {
				continue
			}
			fmt.Fprintf(&script, "try:\n    r.ValidateProtobufRuntimeVersion(r.Domain.PUBLIC, %d, %d, %d, '', 'x')\n    print(False)\nexcept r.VersionError:\n    print(True)\n",
				want[0], want[1], want[2])
			if runtime.refuses(want, "") != "" {
				mine.WriteString("True\n")
			} else {
				mine.WriteString("False\n")
			}
		}
	}
	out, err := proc.Run(t.Context(), proc.Tool{Path: python, Args: []string{"-c", script.String()}, Env: os.Environ()})
	if theirs := strings.ReplaceAll(string(out.Stdout), "\r", ""); err != nil || theirs != mine.String() {
		t.Errorf("%v %s: got\n%swant\n%s", err, out.Stderr, mine.String(), theirs)
	}
}

func TestLower(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.64.0", "1.65.1", true}, {"1.65.1", "1.65.1", false}, {"1.9.0", "1.65.1", true}, {"2.0.0", "1.65.1", false},
		{"1.65.1", "1.65.1.dev0", true}, {"1.65.0rc1", "1.65.1", false}, {"1.65", "1.65.1", false},
	} {
		if got := lower(c.a, c.b); got != c.want {
			t.Errorf("%s %s: got %v", c.a, c.b, got)
		}
	}
}
