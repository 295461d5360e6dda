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

// maxPiped is the maximum number of bytes that [Read] reads from a pipe. chunk is the maximum that
// it reads at once.
const (
	maxPiped = 256 << 20
	chunk    = 1 << 20
)

// ReadFile reads the text of a file of cases for [Parse]. The file may be a regular file, or a
// pipe, such as a shell makes for <(command). ReadFile rejects other files, because a device may
// have no end.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if kind := info.Mode().Type(); kind&^(fs.ModeNamedPipe|fs.ModeDir) != 0 { // os reports an error for a directory
		return nil, fmt.Errorf("%s is not a regular file or a pipe", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file)
}

// Read reads the text of a file of cases for [Parse]. It stops reading within a line that is too
// long. Parse then reports that line.
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
