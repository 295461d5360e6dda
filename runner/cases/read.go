package cases

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/pyplug/pyplug/runner/lines"
)

// maxPiped is how many bytes [Read] reads from a pipe, and chunk how many it reads at once.
const (
	maxPiped = 256 << 20
	chunk    = 1 << 20
)

// ReadFile reads the text of a file of cases for [Parse]: a regular file, or a pipe such as a shell makes
// for <(command). Others, such as devices, may have no end.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if kind := info.Mode().Type(); kind&^(fs.ModeNamedPipe|fs.ModeDir) != 0 { // a directory has an error of its own
		return nil, fmt.Errorf("%s is neither a regular file nor a pipe", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file)
}

// Read reads the text of a file of cases for [Parse]. It stops within a line that is too long, which Parse
// then reports.
func Read(from io.Reader) ([]byte, error) {
	var text []byte
	isPipe := true
	if file, ok := from.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			isPipe, text = false, slices.Grow(text, int(min(info.Size(), maxPiped))+bytes.MinRead)
		}
	}
	for start := 0; ; {
		text = slices.Grow(text, bytes.MinRead)
		had := len(text)
		n, err := from.Read(text[had:min(cap(text), had+chunk)])
		text = text[:had+n]
		if end := bytes.LastIndexByte(text[had:], '\n'); end >= 0 {
			start = had + end + 1
		}
		switch {
		case isPipe && len(text) > maxPiped:
			return nil, fmt.Errorf("a pipe with more than %d bytes", maxPiped)
		case errors.Is(err, io.EOF), err == nil && len(text)-start > lines.DefaultMaxLine:
			return text, nil
		case err != nil:
			return nil, err
		}
	}
}
