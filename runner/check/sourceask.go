package check

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

//go:embed source.py
var sourceProgram string

// The first characters of what source.py is asked; it says what they mean.
const (
	beforeWord   = "<"
	afterWord    = ">"
	compileWord  = "f"
	moduleWord   = "n"
	relativeWord = "r"
)

// answer is what source.py says to a question, when something is wrong.
type answer struct {
	Number int
	Done   bool
	// Type and Message are the exception of a file that does not compile, Line
	// where, 0 when it does not say, and Text and Column that line.
	Type, Message, Text string
	Line, Column        int
	// Missing is the part of a module's dotted name that is not there, Parent what
	// it would be in: "package", "module", "namespace", or nothing. Where is the
	// parent's file or directory.
	Missing, Parent, Where string
}

// A Python is started alone, without site's packages and without its environment,
// or as it usually is.
var (
	alone   = []string{"-I", "-S"}
	asUsual = []string{}
)

// mostWords is how many bytes of questions a process is handed: Windows takes
// 32767 characters, of which the program and the directories need some.
const mostWords = 16 << 10

// ask has the interpreter answer questions, and returns the answers by question.
// One process does it, or several when there are very many.
func ask(ctx context.Context, r sourceRequest, questions, flags []string) (map[string]answer, error) {
	deadline := time.Now().Add(sourceLimit)
	answers := map[string]answer{}
	for len(questions) > 0 {
		n, size := 0, 0
		for n < len(questions) && (n == 0 || size+len(questions[n]) < mostWords) {
			size += len(questions[n]) + 1
			n++
		}
		if err := askOnce(ctx, r, questions[:n], flags, time.Until(deadline), answers); err != nil {
			return nil, err
		}
		questions = questions[n:]
	}
	return answers, nil
}

// askOnce has one process answer.
func askOnce(ctx context.Context, r sourceRequest, questions, flags []string, limit time.Duration, answers map[string]answer) error {
	args := append(append([]string{}, flags...), "-B", "-c", sourceProgram)
	first := len(args)
	before, after := r.Modules.Path()
	for _, dir := range before {
		args = append(args, beforeWord+dir)
	}
	for _, dir := range after {
		args = append(args, afterWord+dir)
	}
	args = append(args, questions...)
	out, err := proc.Run(ctx, proc.Tool{Path: r.Python, Args: args, Env: r.Env, Dir: r.Dir, Limit: max(limit, 1)})
	if err != nil {
		return err
	}
	if out.Exit.Code != 0 {
		return fmt.Errorf("%s ended with %s%s", r.Python, hook.Exit(out.Exit), lastLine(out.Stderr))
	}
	done := false
	for line := range bytes.Lines(out.Stdout) {
		var a answer
		if json.Unmarshal(line, &a) != nil {
			continue // of something that Python runs at its start
		}
		done = done || a.Done
		if number := first + a.Number; !a.Done && number < len(args) && number >= first {
			answers[args[number]] = a
		}
	}
	if !done {
		return errors.New(r.Python + " ended before it had answered")
	}
	return nil
}

// lastLine is the last line that a program complained with, after a colon.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last[:min(len(last), 300)]
	}
	return ""
}
