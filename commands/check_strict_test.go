//go:build linux

package commands_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// hosted is the outcome of a plugin under testdata/stockhost.
type hosted struct {
	err   string // why the call or the stop failed
	out   string // the result of the call
	hangs bool   // the host did not end
	// left is the number of processes that the host left.
	left int
}

// How long a host may take, in general and if it is known to wait forever.
const (
	hostLimit = time.Minute
	hangLimit = 3 * time.Second
)

// underHost has an ordinary host of go-plugin call a plugin once and stop it. All processes have
// the tag.
func underHost(ctx context.Context, host, tag string, p pair) hosted {
	limit := hostLimit
	if p.host == hangs {
		limit = hangLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	key, value, _ := strings.Cut(p.cookie, "=")
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, host, append([]string{key, value, p.method, p.text}, p.program...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, &errs
	cmd.Env = append(os.Environ(), append(p.env, "PYTHONUNBUFFERED=", tag)...) // hosts do not set PYTHONUNBUFFERED
	cmd.WaitDelay = time.Second
	h := hosted{}
	if err := cmd.Run(); err != nil {
		h.err = fmt.Sprint(err, ": ", &errs)
		h.hangs = ctx.Err() != nil
	}
	h.out = strings.TrimSpace(out.String())
	return h
}

// killed kills the processes that have the tag, and counts them.
func killed(t *testing.T, tag string) int {
	t.Helper()
	left := runnertest.WithEnv(tag)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	runnertest.Until(t, "what the host left is gone", func() bool { return len(runnertest.WithEnv(tag)) == 0 })
	return len(left)
}

// The outcomes of a plugin under a host.
const (
	works   = "works"
	leaves  = "works and leaves a process"
	refuses = "does not work"
	hangs   = "hangs"
)

// verdict returns the word for the outcome.
func (h hosted) verdict(want string) string {
	switch {
	case h.hangs:
		return hangs
	case h.err != "" || h.out != want:
		return refuses
	case h.left > 0:
		return leaves
	}
	return works
}

// pair is a plugin as pyplug and as a host start it, with the expected outcomes.
type pair struct {
	env   []string
	check []string // words after "check --strict"
	code  int
	found []string
	waits string // as in a row of quirks

	host   string // "" if there is no such host
	cookie string
	method string // the method and the text of its argument
	text   string
	// program is the plugin's command line in a host.
	program []string
	want    string // the result of the call
	dir     string
}

// pairs returns plugins with and without faults, by their names.
func pairs(t *testing.T) map[string]pair {
	python, dir := runnertest.GRPCIO(t), t.TempDir()
	all := map[string]pair{}
	for _, row := range quirks {
		plugin, err := filepath.Abs(filepath.Join("testdata/plugins/grpc", row.file))
		if err != nil {
			t.Fatal(err)
		}
		p := pair{
			env:    []string{"PYPLUG_PYTHON=" + python, "PYTHONDONTWRITEBYTECODE=1", row.set, "PORT=0"},
			check:  append(slices.Clone(row.flags), plugin),
			code:   row.code,
			found:  row.found,
			waits:  row.waits,
			host:   row.host,
			cookie: "ZOO_COOKIE=monkey", method: "/zoo.Zoo/Echo", text: "hello", want: "hello",
			program: []string{python, plugin}, dir: dir,
		}
		if !slices.Contains(p.check, "--cookie") {
			p.check = append([]string{"--cookie", p.cookie}, p.check...)
		}
		switch row.name {
		case "fixed port":
			p.env = append(p.env, "PORT="+runnertest.FixedPort(t))
		case "healthy once":
			p.env = append(p.env, "ONCE="+filepath.Join(dir, "once"))
		case "no controller, in a shell":
			shell := filepath.Join(dir, "plugin")
			script := fmt.Sprintf("#!/bin/sh\n'%s' '%s'\nexit $?\n", python, plugin)
			if err := os.WriteFile(shell, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			p.program, p.check[len(p.check)-1] = []string{shell}, shell
		}
		all[row.name] = p
	}
	kv := runnertest.GoExample(t)
	if err := os.WriteFile(filepath.Join(dir, "kv_hello"), []byte("world"), 0o600); err != nil {
		t.Fatal(err)
	}
	all["in Go"] = pair{
		check: []string{"--cookie", "BASIC_PLUGIN=hello", "--cwd", dir, kv}, host: works,
		cookie: "BASIC_PLUGIN=hello", method: "/proto.KV/Get", text: "hello", want: "world",
		program: []string{kv}, dir: dir,
	}
	return all
}

// TestStrictMeansHost checks that a plugin that passes --strict works under an ordinary host of
// go-plugin, and that a plugin that does not work there does not pass.
func TestStrictMeansHost(t *testing.T) {
	t.Parallel()
	host := stockHost(t)
	// Plugins that make pyplug and hosts wait run at once, because they need no processor.
	groups := map[string]map[string]pair{}
	for name, p := range pairs(t) {
		group := name
		if p.waits != "" {
			group = "all that " + p.waits
		}
		if groups[group] == nil {
			groups[group] = map[string]pair{}
		}
		groups[group][name] = p
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) { // the longest begin early
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			strictMeansHost(t, host, groups[group])
		})
	}
}

// strictMeansHost checks plugins, all at once, and then has the host start them.
func strictMeansHost(t *testing.T, host string, members map[string]pair) {
	temp := leftEmpty(t)
	sessions := map[string]*session{}
	for name, p := range members {
		sessions[name] = startCheck(t, append(p.env, "TMPDIR="+temp), append([]string{"--strict"}, p.check...)...)
	}
	found := map[string]checked{}
	for name, s := range sessions {
		found[name] = s.checked(t)
	}
	tag := func(name string) string {
		return fmt.Sprintf("PYPLUG_TEST_HOST=%s%d", strings.ReplaceAll(name, " ", "_"), os.Getpid())
	}
	hosts := map[string]chan hosted{}
	for name, p := range members {
		if p.host == "" {
			continue
		}
		came := make(chan hosted, 1)
		hosts[name] = came
		go func() { came <- underHost(t.Context(), host, tag(name), p) }() // ends at the timeout of underHost
	}
	for name, came := range hosts {
		p, h := members[name], <-came
		h.left = killed(t, tag(name))
		if got := h.verdict(p.want); got != p.host {
			t.Errorf("%s: under a host it %s, want that it %s: %+v", name, got, p.host, h)
		}
	}
	for name, p := range members {
		if found[name].ExitCode == 0 && p.host != works {
			t.Errorf("%s passes, and under a host it %s", name, p.host)
		}
		t.Logf("%s: exit code %d, %q", name, found[name].ExitCode, found[name].serious())
		found[name].holds(t, p.code, p.found...)
	}
}
