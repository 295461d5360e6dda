package interp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes a directory of fakes. Each line is one entry:
//
//	x path          a program
//	f path text     a file; \n is a new line
//	l path target   a link; a target with $ROOT is absolute
//	d path          a directory
//	n path          a file that is not executable
//	e path          an empty program
func tree(t testing.TB, lines ...string) string {
	t.Helper()
	// The path is resolved, because the temporary directory of macOS is behind a link.
	root, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	addFiles(t, root, lines...)
	return root
}

// addFiles adds entries to a tree. It overwrites existing files.
func addFiles(t testing.TB, root string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		path, text, _ := strings.Cut(rest, " ")
		path = filepath.Join(root, path)
		text = strings.NewReplacer(`\n`, "\n", "$ROOT", root).Replace(text)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch kind {
		case "x":
			check(t, os.WriteFile(path, []byte("\x7fELF fake"), 0o755))
		case "s":
			check(t, os.WriteFile(path, []byte(text), 0o755))
		case "f":
			check(t, os.WriteFile(path, []byte(text), 0o644))
		case "n":
			check(t, os.WriteFile(path, []byte("\x7fELF"), 0o644))
		case "e":
			check(t, os.WriteFile(path, nil, 0o755))
		case "l":
			check(t, os.Symlink(text, path))
		case "d":
			check(t, os.MkdirAll(path, 0o755))
		default:
			t.Fatalf("line %q", line)
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// base returns an installation of 3.12.4 with python3, python and the headers.
func base(dir string) []string {
	return []string{
		"x " + dir + "/bin/python3.12",
		"l " + dir + "/bin/python3 python3.12",
		"l " + dir + "/bin/python python3.12",
		"f " + dir + `/include/python3.12/patchlevel.h #define PY_VERSION_HEX x\n#define PY_VERSION "3.12.4"\n`,
	}
}

// venv returns an environment at dir that was made from the installation at home.
func venv(dir, home, version string) []string {
	return []string{
		"f " + dir + `/pyvenv.cfg home = $ROOT/` + home + `/bin\nversion = ` + version + `\n`,
		"l " + dir + "/bin/python $ROOT/" + home + "/bin/python3.12",
		"l " + dir + "/bin/python3 python",
		"d " + dir + "/lib/python3.12/site-packages",
	}
}

func lines(groups ...[]string) []string {
	var out []string
	for _, group := range groups {
		out = append(out, group...)
	}
	return out
}

const pyenvShim = `#!/usr/bin/env bash\nset -e\nprogram="${0##*/}"\nexport PYENV_ROOT="$ROOT/pyenv"\nexec "$ROOT/pyenv/libexec/pyenv" exec "$program" "$@"\n`
