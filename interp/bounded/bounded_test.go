package bounded_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp/bounded"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := write(t, "12345")
	if content, info, err := bounded.Read(path, 5); err != nil || string(content) != "12345" || info.Size() != 5 {
		t.Errorf("got %q, %v", content, err)
	}
	if content, _, err := bounded.Read(path, 4); !errors.Is(err, bounded.ErrLarge) || content != nil {
		t.Errorf("got %q, %v, want ErrLarge", content, err)
	}
	if head, err := bounded.Head(path, 3); err != nil || head != "123" {
		t.Errorf("the head is %q, %v", head, err)
	}
	sparse := write(t, "")
	if err := os.Truncate(sparse, 20<<30); err != nil {
		t.Skip(err)
	}
	if _, _, err := bounded.Read(sparse, 1<<20); !errors.Is(err, bounded.ErrLarge) {
		t.Errorf("20 GiB: %v, want ErrLarge", err)
	}
}

func TestReadIrregular(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := bounded.Read(dir, 5); !errors.Is(err, bounded.ErrIrregular) {
		t.Errorf("a directory: %v, want ErrIrregular", err)
	}
	if _, _, err := bounded.Read(filepath.Join(dir, "none"), 5); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v, want ErrNotExist", err)
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	if entries, err := bounded.Dir(dir); err != nil || len(entries) != 0 {
		t.Errorf("of an empty directory: %v, %v", entries, err)
	}
	for _, name := range []string{"b", "a", "c"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := bounded.Dir(dir); err != nil || fmt.Sprint(entries) != "[d a/ d b/ d c/]" {
		t.Errorf("got %v, %v", entries, err)
	}
}

// keys returns TOML with n keys.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	return b.String()
}

// TestTOML checks that a text with many keys of any kind takes little time.
func TestTOML(t *testing.T) {
	inline := strings.ReplaceAll(strings.TrimSpace(keys(80000)), "\n", ", ")
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"a manifest":             {"[tool.pyplug]\n" + keys(5000), nil},
		"keys":                   {keys(80000), bounded.ErrKeys},
		"keys in a table":        {"[a]\n[[b]]\n[a.b]\n" + keys(80000), bounded.ErrKeys},
		"keys in an inline one":  {"a = { " + inline + " }", bounded.ErrKeys},
		"keys in one in a list":  {"a = [{ " + inline + " }]", bounded.ErrKeys},
		"keys beside elements":   {"[[a]]\n[b]\n" + keys(6000) + strings.Repeat("[[a]]\nb = 1\n", 6000), bounded.ErrKeys},
		"tables":                 {strings.ReplaceAll(strings.ReplaceAll(keys(80000), "k", "[k"), " = 1", "]"), bounded.ErrKeys},
		"tables after elements":  {"[[a]]\n" + strings.ReplaceAll(strings.ReplaceAll(keys(80000), "k", "[[a]]\n[b"), " = 1", "]"), bounded.ErrKeys},
		"a path of many parts":   {"[a" + strings.Repeat(".a", 500000) + "]", bounded.ErrKeys},
		"many lists in one list": {"a = [" + strings.Repeat("[],", 80000) + "]", bounded.ErrKeys},
	} {
		t.Run(name, func(t *testing.T) {
			var into map[string]any
			if err := bounded.TOML([]byte(c.text), &into); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if err := bounded.TOML([]byte("a = "), new(map[string]any)); err == nil {
		t.Error("a mistake is no error")
	}
}
