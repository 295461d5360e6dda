package proc

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// StartError says why a process could not be started.
type StartError struct {
	// Path is the program.
	Path string
	// Err is the cause in words. For errors.Is it is [fs.ErrNotExist],
	// [fs.ErrPermission] or the system's error.
	Err error
}

// Error names the program and the cause.
func (e *StartError) Error() string { return "cannot start " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// cause is an error of the system in better words.
type cause struct {
	text string
	err  error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.err }

var errNotAbsolute = errors.New("the path is relative, want an absolute one")

// startError finds out why the system refused: the same errno stands for a program,
// its working directory and its "#!" line.
func startError(s Spec, err error) *StartError {
	return &StartError{Path: s.Path, Err: diagnose(s, err)}
}

func diagnose(s Spec, err error) error {
	if s.Dir != "" {
		info, statErr := os.Stat(s.Dir)
		switch {
		case errors.Is(statErr, fs.ErrNotExist):
			return &cause{"the working directory " + s.Dir + " does not exist", err}
		case statErr == nil && !info.IsDir():
			return &cause{"the working directory " + s.Dir + " is not a directory", err}
		}
	}
	info, statErr := os.Stat(s.Path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return &cause{"no such file", statErr}
	case statErr == nil && info.IsDir():
		return &cause{"is a directory", err}
	case errors.Is(err, fs.ErrPermission) && statErr == nil && info.Mode()&0o111 == 0:
		return &cause{"permission denied: the file is not executable", err}
	case errors.Is(err, fs.ErrPermission):
		return &cause{"permission denied", err}
	case errors.Is(err, fs.ErrNotExist):
		if program := shebang(s.Path); program != "" {
			why := ", which does not exist"
			if _, statErr := os.Stat(program); statErr == nil {
				why = ", which exists; but the line ends with a carriage return, which belongs to that name"
			}
			return &cause{"its first line names " + program + why, err}
		}
		return &cause{"the loader that the program needs does not exist", err}
	case errors.Is(err, syscall.ENOEXEC):
		return &cause{`neither a program for this machine nor a script that begins with "#!"`, err}
	}
	return err
}

// shebang returns the program that a script's first line names; "" without one.
func shebang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 512).ReadSlice('\n')
	rest, ok := strings.CutPrefix(string(line), "#!")
	words := strings.Fields(rest)
	if !ok || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}
