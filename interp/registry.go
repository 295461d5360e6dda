package interp

import (
	"context"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// registered returns the Pythons of the registry of Windows (PEP 514).
func (f *finder) registered() []string {
	if f.registry != nil {
		return f.registry()
	}
	return readRegistry()
}

// fromRegistry returns the first Python of the registry that would do.
func (f *finder) fromRegistry(ctx context.Context) Interpreter {
	for _, path := range f.registered() {
		found, err := f.consider(ctx, path, SourceRegistry)
		switch {
		case err != nil:
			_ = f.skipError(err) // ctx is asked by who looks next
		case f.secondChoice(found, "python") == "":
			return found
		}
	}
	return Interpreter{}
}

// aliasTag marks a reparse point that is an alias of an app from Microsoft's store.
const aliasTag = 0x8000001b

// aliasTarget reads the program that an alias starts. A reparse point has the tag, the length, 0,
// a version, then texts that end with 0. The third text is the program.
func aliasTarget(point []byte) (target string, ok bool) {
	if len(point) < 12 || binary.LittleEndian.Uint32(point) != aliasTag {
		return "", false
	}
	units := make([]uint16, (len(point)-12)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(point[12+2*i:])
	}
	texts := strings.Split(string(utf16.Decode(units)), "\x00")
	if len(texts) < 3 {
		return "", true
	}
	return texts[2], true
}

// alias examines an alias. Its target cannot be read, but its directory's name has the version.
// The alias that comes with Windows opens the store.
func (f *finder) alias(ctx context.Context, path, target string, source Source) (Interpreter, error) {
	dir, name := target[:strings.LastIndexByte(target, '\\')+1], target[strings.LastIndexByte(target, '\\')+1:]
	if _, _, ok := pythonName(strings.ToLower(name)); !ok {
		return Interpreter{}, problem(StoreStub, path, "is an alias that opens Microsoft's store").from(source)
	}
	_, version, _ := strings.Cut(dir, `\PythonSoftwareFoundation.Python.`)
	return f.judge(ctx, Interpreter{Path: path, Version: parseVersion(version), Implementation: "cpython", Source: source})
}
