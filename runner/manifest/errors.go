package manifest

import (
	"fmt"
	"os"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

// Error is the only error type of this package: a mistake in a manifest or in the path of a
// plugin.
type Error struct {
	// File is the absolute path of the file with the mistake. It is empty for a mistake in the
	// path of a plugin.
	File string
	// Line and Column start at 1. 0 means unknown. Column counts bytes.
	Line, Column int
	// Message says what was seen and what was expected.
	Message string
	schema.Advice
	// Err is the error of the system, or nil.
	Err error

	drawing []string
}

// Error returns one line with the place and the message.
func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	place := short(e.File)
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
	}
	if e.Column > 0 {
		place += fmt.Sprintf(":%d", e.Column)
	}
	return place + ": " + e.Message
}

// Unwrap returns the error of the system, if any.
func (e *Error) Unwrap() error { return e.Err }

// Drawing returns the line of the file and carets under the mistake. It is nil if the place is
// unknown or too far to the right.
func (e *Error) Drawing() []string { return e.drawing }

// draw underlines width bytes of a line from a column on.
func draw(line string, column, width int) []string {
	const longest = 100
	if column > longest {
		return nil
	}
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "…"
	}
	width = max(1, min(width, len(line)-column+1))
	return []string{line, strings.Repeat(" ", column-1) + strings.Repeat("^", width)}
}

// unreadable reports a file that exists but cannot be read.
func unreadable(path string, err error) *Error {
	cause := err
	if perr, ok := err.(*os.PathError); ok {
		cause = perr.Err
	}
	return &Error{File: path, Message: "cannot be read: " + cause.Error(), Err: err}
}

// short returns the path relative to the working directory if it is below that,
// else unchanged.
func short(path string) string {
	cwd, err := os.Getwd()
	if err != nil {
		return path
	}
	return schema.Relative(path, cwd)
}
