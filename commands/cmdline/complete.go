package cmdline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/schema"
)

// Complete returns the candidates for last, which follows the words before on a command line. ok is
// false if last is not a flag or a flag's value. The caller then completes last as a word after
// l.Words. A candidate is a word, or a word, a tab and its description.
func Complete(c *cli.Command, names int, before []string, last string) (l *Line, candidates []string, ok bool) {
	l, _ = Read(c, names, before) // errors in the words do not matter here
	previous := append([]string{""}, before...)[len(before)]
	awaits, _, hasValue := Cut(previous)
	name, value, inValue := Cut(last)
	isFlag := strings.HasPrefix(last, "-")
	switch {
	case l.InData(), slices.Contains(before, "--"): // no word after these is a flag
		return l, nil, false
	case strings.HasPrefix(previous, "-") && l.known[awaits] != nil && !l.known[awaits].IsSwitch && !hasValue:
		return l, l.known[awaits].values("", last), true
	case isFlag && inValue && l.known[name] != nil:
		return l, l.known[name].values(strings.TrimSuffix(last, value), value), true
	case isFlag:
		for _, f := range c.Flags {
			candidates = append(candidates, "--"+FlagOf(f).Name+"\t"+strings.ReplaceAll(FlagOf(f).Usage, "`", ""))
		}
	}
	return l, WithPrefix(candidates, last), isFlag || previous == "-m"
}

// values returns the values of a flag that begin with typed, each after head.
func (f *Flag) values(head, typed string) (candidates []string) {
	if f.IsFile {
		return []string{schema.AnyFile}
	}
	for _, value := range WithPrefix(f.Candidates, typed) {
		candidates = append(candidates, head+value)
	}
	return candidates
}

// WithPrefix returns the candidates that begin with typed.
func WithPrefix(candidates []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !strings.HasPrefix(c, typed) })
}
