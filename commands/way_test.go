//go:build linux

package commands_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// wayPlugin is a plugin whose hook reports that it runs and then waits, or returns more than a pipe
// can contain.
const wayPlugin = `
import os
def wait():
    with open(os.environ["REACHED"], "w") as f:
        f.write("x")
    with open(os.environ["REACHED"] + ".go") as f:
        f.read()
def large():
    return "x" * 4000000
`

// TestWay checks that docs/ARCHITECTURE.md lists the functions on the way of a call: those on the
// stack while Python has the call, and while the result is printed.
func TestWay(t *testing.T) {
	runnertest.NothingLeft(t)
	python := runnertest.Python(t)
	page, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := append(os.Environ(), "GOTRACEBACK=all", "PYPLUG_PYTHON="+python, "REACHED="+filepath.Join(dir, "reached"), "PYPLUG_RUN_DIR="+filepath.Join(dir, "run"))
	file := filepath.Join(dir, "waits.py")
	if err := os.WriteFile(file, []byte(wayPlugin), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, fifo := range []string{"reached", "reached.go"} {
		if err := syscall.Mkfifo(filepath.Join(dir, fifo), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const inWorker = "pyworker.(*instance).Call"
	bin := filepath.Join(dir, "pyplug")
	if err := os.Symlink(program(t), bin); err != nil {
		t.Fatal(err)
	}
	start := func(words ...string) *traced {
		t.Helper()
		p := &traced{Cmd: exec.Command(bin, words...)}
		p.Env, p.Stderr = env, &p.errs
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if p.out = bufio.NewReader(out); p.Start() != nil {
			t.Fatal("it does not start")
		}
		return p
	}
	reached := func() {
		t.Helper()
		read := make(chan error, 1)
		go func() { // ends with the plugin
			_, err := os.ReadFile(filepath.Join(dir, "reached"))
			read <- err
		}()
		select {
		case err := <-read:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(runnertest.WaitTimeout):
			t.Fatal("the hook was not called")
		}
	}
	check := func(way string, p *traced, mark string) {
		t.Helper()
		want := fmt.Sprintf("- %s: %s\n", way, strings.Join(p.stack(t, mark), " → "))
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/ARCHITECTURE.md lacks this line:\n%s", want)
		}
	}

	run := start("run", file, "wait")
	reached()
	check("`run`, while Python has the call", run, inWorker)

	run = start("run", file, "large")
	if _, err := run.out.ReadByte(); err != nil { // the rest waits
		t.Fatal(err)
	}
	check("`run`, while it prints the result", run, "ui.(*Streams).Result")

	server := start("serve", "--name", "way", file)
	if _, err := server.out.ReadString('\n'); err != nil { // it is ready
		t.Fatal(err)
	}
	client := start("call", "--timeout", "10m", "way", "wait")
	reached()
	check("`call` with a flag, the client", client, "daemon.(*Client).Call")
	client = start("call", "--timeout", "10m", "way", "wait") // the first client ended, and its call with it
	reached()
	check("`call`, the daemon", server, inWorker)
	_ = client.Wait() // the call fails, because stack ended the server

	checked := start("check", "--call", "wait", file)
	reached()
	check("`check --call`, while Python has the call", checked, inWorker)
}

// traced is a program whose stacks are read.
type traced struct {
	*exec.Cmd
	out  *bufio.Reader
	errs bytes.Buffer
}

// stack ends the program, and returns the functions of this module on the stack that contains mark.
func (p *traced) stack(t *testing.T, mark string) []string {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGABRT); err != nil { // the Go runtime prints all stacks
		t.Fatal(err)
	}
	_ = p.Wait() // SIGABRT ended the program
	for stack := range strings.SplitSeq(p.errs.String(), "\n\n") {
		if names := functions(stack); slices.ContainsFunc(names, func(name string) bool { return name == mark }) {
			return names
		}
	}
	t.Fatalf("no stack has %s:\n%s", mark, &p.errs)
	return nil
}

// frame matches a function of this module in a stack. A closure counts as the function around it.
var frame = regexp.MustCompile(`(?m)^github\.com/pyplug/pyplug/(?:\w+/)*(\w+\.(?:\(\*?\w+\)\.)?\w+)`)

// functions returns the functions of this module in a stack, the outermost first.
func functions(stack string) (names []string) {
	for _, match := range frame.FindAllStringSubmatch(stack, -1) {
		names = append(names, match[1])
	}
	slices.Reverse(names)
	return slices.Compact(names)
}
