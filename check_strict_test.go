//go:build linux

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// hosted is what became of a plugin under testdata/stockhost.
type hosted struct {
	err string // why the call, or the end, did not come about
	out string // what the call returned
	// left are the processes that were there when the host was not.
	left int
}

// hostLimit is how long a host may take. It waits for ever where it does.
const hostLimit = 10 * time.Second

// underHost has an ordinary host of go-plugin call a plugin once and stop it. All
// processes carry the tag.
func underHost(ctx context.Context, host, dir, tag string, env, command []string) hosted {
	ctx, cancel := context.WithTimeout(ctx, hostLimit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, host, command...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(os.Environ(), append(env, "PYTHONUNBUFFERED=", tag)...) // what hosts do not set
	cmd.WaitDelay = time.Second
	h := hosted{}
	if err := cmd.Run(); err != nil {
		h.err = fmt.Sprint(err, ": ", ctx.Err(), " ", &errs)
	}
	h.out = strings.TrimSpace(out.String())
	return h
}

// killed ends the processes that have the tag, and counts them.
func killed(t *testing.T, tag string) int {
	t.Helper()
	left := runnertest.Carrying(tag)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	runnertest.Until(t, "what the host left is gone", func() bool { return len(runnertest.Carrying(tag)) == 0 })
	return len(left)
}

// pair is a plugin as pyplug and as a host start it.
type pair struct {
	env    []string
	check  []string // words after "check --strict"
	cookie string
	method string // and the text of its argument
	text   string
	// program is the plugin as a host has it.
	program []string
	want    string // what the call returns
	dir     string
	good    bool // it has to pass
}

// pairs are plugins, good and bad, by their names.
func pairs(t *testing.T) map[string]pair {
	python, dir := runnertest.GRPCIO(t), t.TempDir()
	all := map[string]pair{}
	add := func(name, file, set string, good bool) {
		plugin, err := filepath.Abs(filepath.Join("testdata/plugins/grpc", file))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = pair{
			env:    []string{"PYPLUG_PYTHON=" + python, "PYTHONDONTWRITEBYTECODE=1", set},
			check:  []string{"--cookie", "ZOO_COOKIE=monkey", plugin},
			cookie: "ZOO_COOKIE=monkey", method: "/zoo.Zoo/Echo", text: "hello", want: "hello",
			program: []string{python, plugin}, dir: dir, good: good,
		}
	}
	add("good.py", "good.py", "QUIRK=", true)
	add("asyncio", "aio.py", "ZOO=", false)
	add("controller", "zoo.py", "ZOO=--controller --reflection", true)
	add("unix", "zoo.py", "ZOO=--controller --unix", false)
	add("NOT_SERVING", "zoo.py", "ZOO=--controller --health=NOT_SERVING", false)
	for _, row := range quirks {
		if row.name != "fixed port" { // the two are started at once
			add(row.name, "quirks.py", "QUIRK="+row.name, row.name == "none")
		}
	}
	for _, line := range []string{"two fields", "four fields", "core 2", "version 9", "netrpc", "a name", "nothing listens"} {
		add(line, "quirks.py", "QUIRK="+line, false)
	}
	// A host kills the shell, and then waits for the Python.
	shell, inShell := filepath.Join(dir, "plugin"), all["no controller"]
	script := fmt.Sprintf("#!/bin/sh\n'%s' '%s'\nexit $?\n", python, inShell.program[1])
	if err := os.WriteFile(shell, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	inShell.program, inShell.check = []string{shell}, []string{"--cookie", "ZOO_COOKIE=monkey", shell}
	all["no controller, in a shell"] = inShell
	kv := runnertest.GoExample(t)
	if err := os.WriteFile(filepath.Join(dir, "kv_hello"), []byte("world"), 0o600); err != nil {
		t.Fatal(err)
	}
	all["in Go"] = pair{
		check:  []string{"--cookie", "BASIC_PLUGIN=hello", "--cwd", dir, kv},
		cookie: "BASIC_PLUGIN=hello", method: "/proto.KV/Get", text: "hello", want: "world",
		program: []string{kv}, dir: dir, good: true,
	}
	return all
}

// What passes --strict works under an ordinary host of go-plugin, and what such a
// host does not get to work does not pass.
func TestStrictMeansHost(t *testing.T) {
	host := filepath.Join(t.TempDir(), "stockhost")
	if out, err := exec.Command("go", "build", "-o", host, "./testdata/stockhost").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, p := range pairs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, value, _ := strings.Cut(p.cookie, "=")
			tag := fmt.Sprintf("PYPLUG_TEST_HOST=%s%d", strings.ReplaceAll(name, " ", "_"), os.Getpid())
			came := make(chan hosted, 1)
			go func() {
				came <- underHost(t.Context(), host, p.dir, tag, p.env, append([]string{key, value, p.method, p.text}, p.program...))
			}()
			c := checkPlugin(t, p.env, append([]string{"--strict"}, p.check...)...)
			h := <-came
			h.left = killed(t, tag)
			t.Logf("check: exit code %d, %q; host: %+v", c.ExitCode, c.serious(), h)

			passed, works := c.ExitCode == 0, h.err == "" && h.out == p.want
			switch {
			case passed && (!works || h.left > 0):
				t.Errorf("it passes, and under a host there is %+v, want %q and an end", h, p.want)
			case !passed && len(c.serious()) == 0:
				t.Errorf("exit code %d without a finding", c.ExitCode)
			case p.good && !passed:
				t.Errorf("it does not pass: %q", c.serious())
			}
		})
	}
}
