package pysrc

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// findPython is a Python to compare with: the one that PYPLUG_TEST_PYTHON names,
// or python3.
func findPython(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("PYPLUG_TEST_PYTHON"); named != "" {
		return named
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		if strings.Contains(os.Getenv("PYPLUG_TEST_REQUIRE"), "python") {
			t.Fatal("no python3, but PYPLUG_TEST_REQUIRE names it")
		}
		t.Skip("no python3 to compare with")
	}
	return path
}

// ask runs a Python with input and gives the lines that it prints.
func ask(t *testing.T, python string, input []byte, args ...string) [][]byte {
	t.Helper()
	cmd := exec.Command(python, args...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.Bytes())
	}
	out = bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n"))
	return bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
}

// library is up to most files of a Python's own library.
func library(t *testing.T, python string, most int) []string {
	t.Helper()
	dir := string(ask(t, python, nil, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))")[0])
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".py") {
			files = append(files, path)
		}
		if len(files) == most {
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The scan finds what the compiler finds, in all that the library holds.
func TestImportsAgainstPython(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a whole library")
	}
	python := findPython(t)
	files := library(t, python, 3000)
	answers := ask(t, python, []byte(strings.Join(files, "\n")+"\n"), "testdata/imports.py")
	if len(answers) != len(files) {
		t.Fatalf("%d answers for %d files", len(answers), len(files))
	}
	compared, total := 0, 0
	for i, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Decode(source)
		if err != nil || string(answers[i]) == "null" {
			continue // another encoding, or no Python
		}
		got, want := Imports(text), compiled(t, answers[i])
		compared++
		total += len(got)
		slices.SortStableFunc(got, inOrder)
		slices.SortStableFunc(want, inOrder)
		if at := differ(got, want); at >= 0 {
			t.Errorf("%s: got %+v, want %+v", path, got[at:min(at+1, len(got))], want[at:min(at+1, len(want))])
		}
	}
	t.Logf("%d imports in %d files", total, compared)
	if compared < 100 {
		t.Errorf("only %d files were compared", compared)
	}
}

// inOrder sorts by line and module: a tree's clauses are in another order.
func inOrder(a, b Import) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return strings.Compare(a.Module, b.Module)
}

// differ is the first index, good in the longer one, at which the two differ;
// -1 if they do not.
func differ(got, want []Import) int {
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			return i
		}
	}
	if len(got) != len(want) {
		return min(len(got), len(want))
	}
	return -1
}

// compiled reads one answer of imports.py.
func compiled(t *testing.T, answer []byte) []Import {
	t.Helper()
	var raw [][7]json.RawMessage
	if err := json.Unmarshal(answer, &raw); err != nil {
		t.Fatal(err)
	}
	var all []Import
	for _, row := range raw {
		var i Import
		for at, field := range []any{&i.Module, &i.Level, &i.Names, &i.Line, &i.Guarded, &i.Local, &i.Conditional} {
			if err := json.Unmarshal(row[at], field); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, i)
	}
	return all
}
