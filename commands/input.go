package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// readFile reads a file, or standard input where its name is "-". Ending ctx
// ends the wait.
func (f *program) readFile(ctx context.Context, name string) ([]byte, error) {
	stop := f.streams.Waiting("reading " + inputName(name))
	defer stop()
	return interruptible(ctx, func() ([]byte, error) {
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
		return nil, &hook.Error{Kind: hook.Request, Err: err}
	}
	return parsed, nil
}

// readInput takes the arguments from the file of --input, if there is one: for a
// gRPC plugin a stream of messages that is read as it is sent, for a functions
// file the whole of it, before anything is started.
func (f *program) readInput(ctx context.Context, s *runner.Session, o *runOptions) error {
	if o.input == "" {
		return nil
	}
	if s.Settings().Transport == "grpc" {
		var err error
		o.stream, err = f.openInput(o.input)
		return err
	}
	text, err := f.readFile(ctx, o.input)
	if canceled := (*hook.Error)(nil); errors.As(err, &canceled) {
		return canceled
	}
	if err != nil {
		return usage("--input: %w", err)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if err := checkInput(text); err != nil {
		return &hook.Error{Kind: hook.Request, Err: fmt.Errorf("--input %s: %w", inputName(o.input), err)}
	}
	o.call.Args.JSON = text
	return nil
}

const byteOrderMark = "\ufeff"

// openInput opens the file of --input; it stays open until pyplug ends.
func (f *program) openInput(name string) (io.Reader, error) {
	if name == "-" {
		return f.streams.In, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usage("--input: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, usage("--input: %s is a directory", name)
	}
	return file, nil
}

// messages reads JSON values one after the other, in lines or not. A read that
// waits when ctx ends is left.
func messages(ctx context.Context, from io.Reader, name string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		lines := &lineCount{from: from}
		decoder := json.NewDecoder(lines)
		for {
			message, err := interruptible(ctx, func() (m json.RawMessage, err error) {
				err = decoder.Decode(&m)
				return m, err
			})
			switch {
			case errors.Is(err, io.EOF):
				return
			case ctx.Err() != nil && err != nil:
				yield(nil, err)
				return
			case err != nil:
				yield(nil, fmt.Errorf("%s: %w", name, lines.place(err, decoder.InputOffset())))
				return
			}
			lines.pass(decoder.InputOffset())
			if !yield(message, nil) {
				return
			}
		}
	}
}

// lineCount counts the lines of what is read, for errors.
type lineCount struct {
	from   io.Reader
	read   int64
	ends   []int64 // the offsets behind newlines that were read and not passed
	passed int     // how many were
}

func (c *lineCount) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	if c.read == 0 && bytes.HasPrefix(b[:n], []byte(byteOrderMark)) {
		copy(b, "   ") // as long as the mark
	}
	for at, char := range b[:n] {
		if char == '\n' {
			c.ends = append(c.ends, c.read+int64(at)+1)
		}
	}
	c.read += int64(n)
	return n, err
}

// pass forgets the lines before offset.
func (c *lineCount) pass(offset int64) {
	n := 0
	for n < len(c.ends) && c.ends[n] <= offset {
		n++
	}
	c.passed += n
	c.ends = append(c.ends[:0], c.ends[n:]...)
}

// place adds the line to an error of JSON.
func (c *lineCount) place(err error, offset int64) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		offset = max(offset, syntax.Offset-1)
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = c.read - 1 // not behind the last newline
	default:
		return err
	}
	c.pass(offset)
	return fmt.Errorf("line %d is not JSON: %w", c.passed+1, err)
}

// checkInput wants one JSON object or array.
func checkInput(text []byte) error {
	if len(text) == 0 {
		return errors.New("it is empty, want a JSON object or array")
	}
	if !utf8.Valid(text) {
		at := 0
		for at < len(text) {
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return fmt.Errorf("it is not UTF-8: byte %d is 0x%02x", at+1, text[at])
	}
	if json.Valid(text) {
		if text[0] != '{' && text[0] != '[' {
			return errors.New("it holds one value, want a JSON object (names) or array (positions)")
		}
		return nil
	}
	var v any
	err := json.Unmarshal(text, &v)
	line := 1
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		line += bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
	}
	return fmt.Errorf("it is not JSON: line %d: %w", line, err)
}
