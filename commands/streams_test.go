package commands

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/pyplug/pyplug/commands/ui"
)

// testStreams returns streams in memory: no terminals, no colors, no environment. err is complete
// after the method that wrote to it, or [ui.Output.Close], has returned.
func testStreams(in string) (s *ui.Streams, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	s = &ui.Streams{
		In: strings.NewReader(in), Out: out, Err: err,
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return "", errors.New("no directory") },
		Now:    time.Now,
	}
	return s, out, err
}
