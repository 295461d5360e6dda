package commands

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// readFile reads a file, or standard input if its name is "-". The wait ends with ctx.
func (prog *program) readFile(ctx context.Context, name string) ([]byte, error) {
	return prog.reading(ctx, name, os.ReadFile, io.ReadAll)
}

// reading is like [program.readFile], but reads with the given functions.
func (prog *program) reading(ctx context.Context, name string, file func(string) ([]byte, error), stdin func(io.Reader) ([]byte, error)) ([]byte, error) {
	stop := prog.streams.Waiting("reading " + inputName(name))
	defer stop()
	return hook.Interruptible(ctx, func() ([]byte, error) {
		if name == "-" {
			return stdin(prog.streams.In)
		}
		return file(name)
	})
}

func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// readWords reads the arguments from the words.
func (prog *program) readWords(ctx context.Context, words []string) ([]schema.Word, error) {
	parsed, err := schema.ParseWords(words, func(name string) ([]byte, error) { return prog.readFile(ctx, name) })
	return parsed, asKind(hook.Request, err)
}

// readInput reads the arguments from the file of --input, if it is given. If streams is set, it
// only opens the file, and the messages are read while they are sent.
func (prog *program) readInput(ctx context.Context, streams bool, o *callOptions) error {
	switch {
	case o.input == "":
		return nil
	case streams:
		var err error
		o.stream, err = prog.openInput(o.input)
		return err
	}
	text, err := prog.readFile(ctx, o.input)
	if err != nil {
		return asKind(hook.Usage, fmt.Errorf("--input: %w", err))
	}
	if o.call.Args.JSON, err = wire.ParseInput(text); err != nil {
		return hook.NewError(hook.Request, fmt.Errorf("--input %s: %w", inputName(o.input), err))
	}
	return nil
}

// hintInput adds a hint to the error of a call without required arguments, if standard input may
// contain them. It reads nothing from standard input.
func (prog *program) hintInput(err error, o callOptions) error {
	e := hook.AsError(err)
	none := len(o.call.Args.Words) == 0 && o.input == ""
	if e.Kind != hook.Request || e.Place == "" || !none || !prog.streams.Piped() {
		return err
	}
	return cmdline.Hinted(err, schema.Hintf("pass %s - to read the arguments from standard input", schema.Setting("input")))
}

// openInput returns a reader of a file, which stays open until pyplug ends.
func (prog *program) openInput(name string) (io.Reader, error) {
	if name == "-" {
		return prog.streams.In, nil
	}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", name)
	}
	if err != nil {
		return nil, cmdline.Usage("--input: %w", err)
	}
	return &lateFile{name: name}, nil
}

// lateFile is a file that is opened at the first read. It may be a named pipe that nobody writes to
// yet, and the timeout of the call limits that wait.
type lateFile struct {
	name string
	file *os.File // nil until the first read
}

func (l *lateFile) Read(b []byte) (n int, err error) {
	if l.file == nil {
		if l.file, err = os.Open(l.name); err != nil {
			return 0, err
		}
	}
	return l.file.Read(b)
}
