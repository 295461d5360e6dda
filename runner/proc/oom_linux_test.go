package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCgroupFiles(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"a/b/memory.events", "memory/c/memory.oom_control", "memory/memory.oom_control", "unified/u/memory.events"} {
		path := filepath.Join(root, file)
		os.MkdirAll(filepath.Dir(path), 0o700)
		os.WriteFile(path, nil, 0o600)
	}
	exists := func(file string) bool { _, err := os.Stat(file); return err == nil }
	tests := []struct{ groups, want string }{
		{"", ""},
		{"0::/a/b\n", "a/b/memory.events"},
		{"0::/none\n", ""},
		{"5:cpu,cpuacct:/\n4:memory:/c\n0::/u\n", "memory/c/memory.oom_control unified/u/memory.events"},
		{"4:memory:/elsewhere\n", "memory/memory.oom_control"},
	}
	for _, test := range tests {
		got := strings.Join(cgroupFiles([]byte(test.groups), root, exists), " ")
		if got = strings.ReplaceAll(got, root+"/", ""); got != test.want {
			t.Errorf("%q: got %q, want %q", test.groups, got, test.want)
		}
	}
}
