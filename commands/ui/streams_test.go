package ui

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// testStreams returns streams in memory: no terminals, no colors, no environment. err is complete
// after the method that wrote to it, or [Output.Close], has returned.
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
