package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

var errNotAbsolute = errors.New("the path is relative, want an absolute one")

// startError says why a process could not be started.
func startError(path string, err error) error { return fmt.Errorf("cannot start %s: %w", path, err) }

// diagnose finds out why the system refused: the same errno stands for a program, its
// working directory and its "#!" line.
func diagnose(s Spec, err error) error {
	if s.Dir != "" {
		info, statErr := os.Stat(s.Dir)
		switch {
		case errors.Is(statErr, fs.ErrNotExist):
			return errors.New("the working directory " + s.Dir + " does not exist")
		case statErr == nil && !info.IsDir():
			return errors.New("the working directory " + s.Dir + " is not a directory")
		}
	}
	info, statErr := os.Stat(s.Path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return errors.New("no such file")
	case statErr == nil && info.IsDir():
		return errors.New("is a directory")
	case errors.Is(err, fs.ErrPermission) && statErr == nil && info.Mode()&0o111 == 0:
		return errors.New("permission denied: the file is not executable")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	case errors.Is(err, fs.ErrNotExist):
		if program := shebang(s.Path); program != "" {
			why := ", which does not exist"
			if _, statErr := os.Stat(program); statErr == nil {
				why = ", which exists; but the line ends with a carriage return, which belongs to that name"
			}
			return errors.New("its first line names " + program + why)
		}
		return errors.New("the loader that the program needs does not exist")
	case errors.Is(err, syscall.ENOEXEC):
		return errors.New(`neither a program for this machine nor a script that begins with "#!"`)
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
