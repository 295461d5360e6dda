package interp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kinds are the kinds of walks.
var kinds = map[string]bounds{"walk": whole, "glance": glance}

// importing is a tree of so many files below dir, of which each imports the next.
func importing(dir, name string, files int, text string) []string {
	var all []string
	for n := range files {
		all = append(all, fmt.Sprintf(`f %s/%s%d.py import %s%d\n%s`, dir, name, n, name, n+1, text))
	}
	return all
}

// TestWalkFiles holds how many files a walk reads of the plugin's own and of all
// that is installed.
func TestWalkFiles(t *testing.T) {
	all := importing("plug", "own", 1002, "")
	imports := "own0"
	for n := range 100 {
		all = append(all, fmt.Sprintf("f %slib%d/__init__.py", fakeSite, n))
		imports += fmt.Sprintf(", lib%d", n)
	}
	root, m := plugged(t, append(all, "f plug/main.py import "+imports)...)
	want := map[string]int{"walk": 1000, "glance": 100}
	for name, most := range kinds {
		t.Run(name, func(t *testing.T) {
			own, other := 0, 0
			for file := range m.within(most, filepath.Join(root, "plug", "main.py")) {
				if file.Own {
					own++
				} else {
					other++
				}
			}
			if own != want[name] || other != 80 {
				t.Errorf("%d own files and %d others, want %d and 80", own, other, want[name])
			}
		})
	}
}

// TestGlanceBytes holds that a glance reads little of the plugin's own, passes over
// what is large, and over descriptors.
func TestGlanceBytes(t *testing.T) {
	const size = 20 << 10
	root, m := plugged(t, append(importing("plug", "own", 50, strings.Repeat("#", size)),
		"f plug/main.py import large, gen_pb2, gen_pb2_grpc, own0", "f plug/large.py import missed\\n"+strings.Repeat("#", 300<<10),
		"f plug/gen_pb2.py", "f plug/gen_pb2_grpc.py", "f plug/missed.py")...)
	own, others := 0, ""
	for file := range m.Glance(filepath.Join(root, "plug", "main.py")) {
		if len(file.Text) >= size {
			own++
		} else {
			others += " " + filepath.Base(file.Path)
		}
	}
	if own != 192<<10/size || others != " main.py gen_pb2_grpc.py" {
		t.Errorf("%d large files, and%s", own, others)
	}
}

// TestWalkLookups holds that the number of imports in one file does not matter.
func TestWalkLookups(t *testing.T) {
	var many strings.Builder
	for n := range 10000 {
		fmt.Fprintf(&many, `import none%d\n`, n)
	}
	names := strings.Repeat("n, ", 30000)
	for script, want := range map[string]string{
		"import a, b": "a.py b.py",
		"import a\\n" + many.String() + "import b":              "a.py",
		"import a\\nfrom pk import (" + names + ")\\nimport b":  "a.py pk.py b.py",
		"import a\\nfrom . import (" + distinct(11000) + ", b)": "a.py",
	} {
		root, m := plugged(t, "f plug/main.py "+script, "f plug/a.py", "f plug/b.py", "f plug/pk.py")
		text, err := os.ReadFile(filepath.Join(root, "plug", "main.py"))
		check(t, err)
		for name, most := range kinds {
			t.Run(name+" "+script[:min(len(script), 30)], func(t *testing.T) {
				if len(text) > most.bytes {
					t.Fatalf("%d bytes, of which nothing is seen", len(text))
				}
				var got []string
				for file := range m.within(most, filepath.Join(root, "plug", "main.py")) {
					if name := filepath.Base(file.Path); name != "main.py" {
						got = append(got, name)
					}
				}
				if strings.Join(got, " ") != want {
					t.Errorf("got %q, want %s", got, want)
				}
			})
		}
	}
}

// distinct are so many names.
func distinct(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("none%d", i))
	}
	return strings.Join(all, ", ")
}

// TestModulesLazy holds that what is installed is read when it is first needed,
// and once.
func TestModulesLazy(t *testing.T) {
	root, m := plugged(t)
	plant(t, root, "f "+fakeSite+"late.py")
	if !m.Has("late") {
		t.Error("it was read before it was needed")
	}
	plant(t, root, "f "+fakeSite+"later.py")
	if m.Has("later") {
		t.Error("it was read twice")
	}
}

// BenchmarkLargeSite is the time for many installed packages, and many editable
// ones.
func BenchmarkLargeSite(b *testing.B) {
	var all []string
	for n := range 15000 {
		all = append(all, fmt.Sprintf("f %sm%d.py", fakeSite, n))
	}
	for n := range 6 {
		mapping := ""
		for i := range 1000 {
			mapping += fmt.Sprintf("'e%d_%d': '/src/e%d/%d', ", n, i, n, i)
		}
		all = append(all, fmt.Sprintf("f %s__editable___e%d_finder.py MAPPING = {%s}", fakeSite, n, mapping))
	}
	root, _ := plugged(b, all...)
	from := python(root, "env/bin/python")
	for b.Loop() {
		if m := from.Modules(nil, nil); m.Has("grpc") || !m.Has("e5_999") {
			b.Fatal("not found")
		}
	}
}
