package ui

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// testStreams returns streams over memory: no terminals, no colour, no environment. Err is
// complete once the method that wrote to it, or [Output.Close], has returned.
func testStreams(in string) (s *Streams, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	s = &Streams{
		In: strings.NewReader(in), Out: out, Err: err,
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return "", errors.New("no directory") },
		Now:    time.Now,
	}
	return s, out, err
}
