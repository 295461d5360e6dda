package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// lineReader reads the command line of one command.
type lineReader struct {
	words []string // that are no flags; those after the names are data
	err   error    // the first error; the rest is read, too
	typed []string // the command and its flags as typed, for hints
	known map[string]*flag
	// names is the number of words before the data; every word after them is data. It is
	// negative if the command takes no data.
	names int
	// modules says how many words may be "-m MODULE", which names a PLUGIN: none, the
	// first, or all.
	modules int
}

// modulesOf returns how many words of a command may be "-m MODULE".
func modulesOf(c *cli.Command) int {
	switch {
	case c.Name == "python": // a verb comes first
		return 2
	case strings.Contains(c.ArgsUsage, "PLUGIN..."):
		return math.MaxInt
	case strings.Contains(c.ArgsUsage, "PLUGIN"):
		return 1
	}
	return 0
}

// readLine reads the words after a command's name and sets the flags. After PLUGIN and HOOK
// every word is data. After a "--" before them no word is a flag.
func readLine(cmd command, args []string) (*lineReader, error) {
	r := &lineReader{typed: []string{"pyplug", cmd.Name}, known: flagsOf(cmd.Command), names: cmd.names, modules: modulesOf(cmd.Command)}
	for flags := true; len(args) > 0 && !r.inData(); {
		word := args[0]
		switch {
		case !flags || len(word) < 2 || word[0] != '-':
			r.words = append(r.words, word)
			args = args[1:]
		case word == "--":
			flags = false
			args = args[1:]
		case word == "-m" && len(r.words) < r.modules:
			args = r.module(args[1:])
		default:
			args = r.flag(args)
		}
	}
	r.words = append(r.words, args...)
	return r, r.err
}

// inData reports whether PLUGIN and HOOK have been read.
func (r *lineReader) inData() bool { return r.names >= 0 && len(r.words) >= r.names }

// module reads the MODULE of -m, and returns the words after it.
func (r *lineReader) module(args []string) []string {
	if len(args) == 0 {
		r.reject(usage("-m needs a MODULE"))
		return nil
	}
	r.words = append(r.words, manifest.ModulePath(args[0]))
	return args[1:]
}

// typedWords returns words as they were typed, with -m before a module.
func typedWords(words []string) (typed []string) {
	for _, word := range words {
		if module, ok := manifest.ModuleOf(word); ok {
			typed = append(typed, "-m")
			word = module
		}
		typed = append(typed, word)
	}
	return typed
}

// flag reads a flag, or several of one letter, and returns the words after it.
func (r *lineReader) flag(args []string) []string {
	word := args[0]
	name, value, hasValue := cutFlag(word)
	f := r.known[name]
	if f == nil {
		if letters := r.letters(word); letters != nil {
			return slices.Concat(letters, args[1:])
		}
		r.reject(unknownFlag(word, maps.Keys(r.known)))
		return args[1:]
	}
	used := 1
	if !f.isSwitch && !hasValue {
		if len(args) == 1 {
			r.reject(usage("%s needs a value", word))
			return nil
		}
		value, used = args[1], 2
	}
	r.typed = append(r.typed, args[:used]...)
	r.set(f, name, value, hasValue)
	return args[used:]
}

// set sets a flag, by the name that was typed. A switch without a value is true.
func (r *lineReader) set(f *flag, name, value string, hasValue bool) {
	if f.isSwitch && !hasValue {
		value = "true"
	}
	f.typed = true
	if len(name) == 1 {
		name = f.Name
	}
	r.reject(f.set("--"+name, value))
	if f.isPlugin && r.names > 1 {
		r.names = 1
	}
}

// misplaced returns the error for a flag of pyplug among the data. err must say that the hook does
// not accept that word; otherwise misplaced returns err. A flag with one dash counts as data, and
// err gets a hint.
func (r *lineReader) misplaced(err error) error {
	e := (*hook.Error)(nil)
	if r == nil || !r.inData() || !errors.As(err, &e) || e.Kind != hook.Request || e.Word < 1 || e.Word > len(r.words)-r.names {
		return err
	}
	word := r.words[r.names+e.Word-1]
	hint, ok := r.reordered(e.Word - 1)
	switch {
	case !ok:
		return err
	case !strings.HasPrefix(word, "--"):
		return pluginOf(err).failed(hinted(err, hint))
	}
	return hinted(usage("%s comes after HOOK, where every word is an argument of the hook", word),
		hint, schema.Hintf("as text for the hook: %s", schema.QuoteLine([]string{"=" + word})))
}

// reordered returns a hint: the command line in which the word of the data at an index is a flag.
// ok is false if there is no such flag.
func (r *lineReader) reordered(at int) (hint schema.Hint, ok bool) {
	names, data := r.words[:r.names], r.words[r.names:]
	name, _, hasValue := cutFlag(data[at])
	f := r.known[name]
	if f == nil {
		return schema.Hint{}, false
	}
	if f.Name == "help" {
		return schema.Hintf("for the help of the hook: %s", schema.QuoteLine(slices.Concat(r.typed, typedWords(names), []string{"--help"}))), true
	}
	typed, rest := data[at:at+1], data[at+1:]
	if !f.isSwitch && !hasValue {
		value := []string{f.placeholder()}
		if len(rest) > 0 {
			value, rest = rest[:1], rest[1:]
		}
		typed = slices.Concat(typed, value)
	}
	line := schema.QuoteLine(slices.Concat(r.typed, typed, typedWords(names), data[:at], rest))
	return schema.Hintf("as a flag of pyplug: %s", line), true
}

// reject records an error. The first one counts.
func (r *lineReader) reject(err error) {
	if r.err == nil {
		r.err = err
	}
}

// letters splits -vq into -v -q, and -j2 into -j 2. It returns nil for anything else.
func (r *lineReader) letters(word string) []string {
	if strings.HasPrefix(word, "--") {
		return nil
	}
	var flags []string
	for i, letter := range word[1:] {
		f := r.known[string(letter)]
		if f == nil {
			return nil
		}
		flags = append(flags, "-"+string(letter))
		if f.isSwitch {
			continue
		}
		if value := word[1+i+1:]; value != "" {
			return append(flags, value)
		}
		return nil // its value is the next word: one flag for each dash
	}
	return flags
}

// cutFlag splits --name=value. A flag is the same with one dash or two.
func cutFlag(word string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
}

// flagsOf maps the names of a command's flags to the flags.
func flagsOf(c *cli.Command) map[string]*flag {
	known := map[string]*flag{}
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			known[name] = valueOf(f)
		}
	}
	return known
}

// unknownFlag returns the error for an unknown flag.
func unknownFlag(word string, known iter.Seq[string]) error {
	typed, _, _ := strings.Cut(word, "=")
	names := slices.DeleteFunc(slices.Sorted(known), func(name string) bool { return len(name) == 1 })
	return suggested(usage("unknown flag %s", typed), "--%s", strings.TrimLeft(typed, "-"), names)
}

// hinted adds hints to an error.
func hinted(err error, hints ...schema.Hint) error {
	e := *hook.AsError(err)
	e.Hints = append(e.Hints, hints...)
	return &e
}

// suggested adds a hint to err: the word of known that was probably meant, in the format
// typed. If there is none, it adds the other hints.
func suggested(err error, typed, word string, known []string, others ...schema.Hint) error {
	if s := schema.Suggest(word, known); s != "" {
		others = schema.DidYouMean(fmt.Sprintf(typed, s))
	}
	return hinted(err, others...)
}

// atMost returns an error if there are more than most words.
func atMost(words []string, most int) error {
	if len(words) <= most {
		return nil
	}
	return usage("unexpected argument: %s", schema.QuoteLine(words[most:most+1]))
}

// oneWord returns the PLUGIN that is the only word of a command line.
func oneWord(words []string) (string, error) {
	if err := wantWords(words, "PLUGIN"); err != nil {
		return "", err
	}
	return words[0], atMost(words, 1)
}

// wantWords returns a usage error unless a command line has a word for each of some names, and none
// that is empty.
func wantWords(words []string, names ...string) error {
	if len(words) < len(names) {
		return usage("%s is missing", names[len(words)])
	}
	for i, name := range names {
		if words[i] == "" {
			return usage("%s is empty", name)
		}
	}
	return nil
}

// readFile reads a file, or standard input if its name is "-". The wait ends with ctx.
func (prog *program) readFile(ctx context.Context, name string) ([]byte, error) {
	stop := prog.streams.Waiting("reading " + inputName(name))
	defer stop()
	return hook.Interruptible(ctx, func() ([]byte, error) {
		if name == "-" {
			return io.ReadAll(prog.streams.In)
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
func (prog *program) readWords(ctx context.Context, words []string) ([]schema.Word, error) {
	parsed, err := schema.ParseWords(words, func(name string) ([]byte, error) { return prog.readFile(ctx, name) })
	return parsed, asKind(hook.Request, err)
}

// readInput reads the arguments from the file of --input, if it is given. If streams is set, it
// only opens the file, and the messages are read as they are sent.
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
	if o.call.Args.JSON, err = checkInput(text); err != nil {
		return hook.NewError(hook.Request, fmt.Errorf("--input %s: %w", inputName(o.input), err))
	}
	return nil
}

// hintInput adds a hint to the error of a call that has no arguments and needs some, if
// standard input may have them. It reads nothing from standard input.
func (prog *program) hintInput(err error, o callOptions) error {
	e := hook.AsError(err)
	none := len(o.call.Args.Words) == 0 && o.input == ""
	if e.Kind != hook.Request || e.Place == "" || !none || !prog.streams.Piped() {
		return err
	}
	return hinted(err, schema.Hintf("to read the arguments from standard input, pass %s -", schema.Setting("input")))
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
		return nil, usage("--input: %w", err)
	}
	return &lateFile{name: name}, nil
}

// lateFile is a file that is opened when it is read: it may be a named pipe that nobody
// writes to yet, and the timeout of the call bounds that wait.
type lateFile struct {
	name string
	file *os.File // nil until then
}

func (l *lateFile) Read(b []byte) (n int, err error) {
	if l.file == nil {
		if l.file, err = os.Open(l.name); err != nil {
			return 0, err
		}
	}
	return l.file.Read(b)
}

// checkInput returns the one JSON object or array in a text, without space around it. The
// lines in its errors count from the beginning of the file.
func checkInput(text []byte) ([]byte, error) {
	if err := schema.CheckUTF8(text); err != nil {
		return nil, fmt.Errorf("it is %w", err)
	}
	value := bytes.TrimSpace(bytes.TrimPrefix(text, []byte(hook.ByteOrderMark)))
	offset, err := schema.CheckJSON(value)
	switch {
	case len(value) == 0:
		return nil, errors.New("it is empty, want a JSON object or array")
	case err != nil:
		line := 1 + bytes.Count(text[:bytes.Index(text, value)+offset], []byte("\n"))
		return nil, fmt.Errorf("it is not JSON: line %d: %w", line, err)
	case value[0] != '{' && value[0] != '[':
		return nil, errors.New("it holds one value, want a JSON object (names) or array (positions)")
	}
	return value, nil
}
