package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// readFile reads a file, or standard input where its name is "-". Ending ctx
// ends the wait.
func (f *program) readFile(ctx context.Context, name string) ([]byte, error) {
	stop := f.streams.Waiting("reading " + inputName(name))
	defer stop()
	return hook.Interruptible(ctx, func() ([]byte, error) {
		if name == "-" {
			return io.ReadAll(f.streams.In)
		}
		return os.ReadFile(name)
	})
}

func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// readWords reads the arguments from the words.
func (f *program) readWords(ctx context.Context, words []string) ([]schema.Word, error) {
	parsed, err := schema.ParseWords(words, func(name string) ([]byte, error) { return f.readFile(ctx, name) })
	if canceled := (*hook.Error)(nil); errors.As(err, &canceled) {
		return nil, canceled
	}
	if err != nil {
		return nil, hook.NewError(hook.Request, err)
	}
	return parsed, nil
}

// readInput takes the arguments from the file of --input, if there is one: for a
// gRPC plugin a stream of messages that is read as it is sent, for a functions
// file the whole of it, before anything is started.
func (f *program) readInput(ctx context.Context, transport string, o *callOptions) error {
	if o.input == "" {
		return nil
	}
	if transport == "grpc" {
		var err error
		o.stream, err = f.openInput(ctx, o.input)
		return err
	}
	text, err := f.readFile(ctx, o.input)
	if canceled := (*hook.Error)(nil); errors.As(err, &canceled) {
		return canceled
	}
	if err != nil {
		return usage("--input: %w", err)
	}
	if o.call.Args.JSON, err = checkInput(text); err != nil {
		return hook.NewError(hook.Request, fmt.Errorf("--input %s: %w", inputName(o.input), err))
	}
	return nil
}

const byteOrderMark = "\ufeff"

// openInput opens the file of --input; it stays open until pyplug ends. What may
// be waited for, such as a named pipe that nobody writes to yet, is opened when it
// is read: the limit of the call counts then.
func (f *program) openInput(ctx context.Context, name string) (io.Reader, error) {
	if name == "-" {
		return f.streams.In, nil
	}
	return hook.Interruptible(ctx, func() (io.Reader, error) {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, usage("--input: %w", err)
		case info.IsDir():
			return nil, usage("--input: %s is a directory", name)
		case !info.Mode().IsRegular():
			return &lateFile{name: name}, nil
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, usage("--input: %w", err)
		}
		return file, nil
	})
}

// lateFile is a file that is opened when it is read.
type lateFile struct {
	name string
	file *os.File // nil until then
}

func (l *lateFile) Read(b []byte) (int, error) {
	if l.file == nil {
		file, err := os.Open(l.name)
		if err != nil {
			return 0, err
		}
		l.file = file
	}
	return l.file.Read(b)
}

// checkInput wants one JSON object or array, and returns it without what is around
// it. Its errors count from the beginning of the file.
func checkInput(text []byte) ([]byte, error) {
	value := bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if len(value) == 0 {
		return nil, errors.New("it is empty, want a JSON object or array")
	}
	begin := bytes.Index(text, value)
	if !utf8.Valid(value) {
		at := begin
		for at < len(text) {
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return nil, fmt.Errorf("it is not UTF-8: byte %d is 0x%02x", at+1, text[at])
	}
	if json.Valid(value) {
		if value[0] != '{' && value[0] != '[' {
			return nil, errors.New("it holds one value, want a JSON object (names) or array (positions)")
		}
		return value, nil
	}
	var v any
	err := json.Unmarshal(value, &v)
	line := 1
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) { // behind the byte that is wrong
		line += bytes.Count(text[:begin+int(syntax.Offset)-1], []byte("\n"))
	}
	return nil, fmt.Errorf("it is not JSON: line %d: %w", line, err)
}
