package interp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// Shebang returns the words of the #! line of a script without env and its options, or nil.
func Shebang(script string) []string {
	text, _ := bounded.Head(script, 512) // systems read at most 256 bytes
	line, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) == "env" {
		isProgram := func(word string) bool { return word[0] != '-' && !strings.Contains(word, "=") }
		words = words[max(1, slices.IndexFunc(words[1:], isProgram)+1):]
	}
	return words
}

// hinted examines the Python that the plugin's #! line names. An environment decides, because the
// file was made for it. A version is chosen only if it is installed, because the line may be older
// than the plugin's requirements.
func (f *finder) hinted() (Interpreter, *Attempt) {
	words := Shebang(f.Entry)
	if len(words) == 0 {
		return Interpreter{}, nil
	}
	program, name := words[0], filepath.Base(words[0])
	if _, env := findConfig(program); env != "" && filepath.IsAbs(program) && f.Making == "" {
		if broken := f.distrust(env); broken != nil {
			return Interpreter{}, broken.from(SourceShebang)
		}
		return f.consider(program, SourceShebang)
	}
	r, isVersion := parseRequest(name)
	switch {
	case !isVersion || r.version.Minor < 0:
		return Interpreter{}, nil
	case f.excludes(r):
		f.skip(OtherVersion, name, SourceShebang, "is named by the plugin, and requires-python excludes it").Fix = schema.Hintf("change the #! line or requires-python")
		return Interpreter{}, nil
	}
	found := f.anywhere(r, SourceShebang)
	if found.Path == "" {
		f.skip(PinNotInstalled, name, SourceShebang, "is named by the plugin but not installed").wanted = r.name
	}
	return found, nil
}
