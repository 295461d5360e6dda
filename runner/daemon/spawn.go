package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// endLimit is how long a daemon whose start was given up may take to stop what
	// it has started, before it is killed.
	endLimit = 15 * time.Second
	// saidLimit bounds what is kept of what a daemon says before it has a log.
	saidLimit = 64 << 10
	// spawns is how often a name is tried for whose holder is gone each time.
	spawns = 5
)

// SpawnOptions say what to start in the background.
type SpawnOptions struct {
	// Name is the name that the daemon is going to take.
	Name string
	// Entry is the file that it is going to run. Who has the name and runs another
	// one is not waited for; empty: whoever has the name is.
	Entry string
	// Args are pyplug's arguments, without the program; Env is the environment
	// and Dir the directory, our own when they are empty.
	Args []string
	Env  []string
	Dir  string
	// Note gets what the user should know meanwhile; nil: nobody.
	Note func(text string)
}

// Spawn starts pyplug once more, detached: in a session of its own, with nothing on
// its standard input, and with none of our descriptors, so that nobody waits for
// its end who waits for ours. It returns when the daemon is ready. When another one
// has the name, or took it just before, that one is waited for, and its Identity
// returned: the caller looks whether it is the plugin that was meant. One that is
// being stopped is waited for, too, and one that runs something else not at all.
//
// Errors are [*hook.Error]: what the daemon told why it did not start; of kind
// Unavailable where it could not be started or ended without a word, and, with an
// [*UnansweredError], where one who does not answer has the name; of kind
// Canceled or Timeout when ctx ended, which ends a daemon that is half started.
// None is left then.
func Spawn(ctx context.Context, o SpawnOptions) (Identity, error) {
	if !supported {
		return Identity{}, unavailable(errWindows)
	}
	for range spawns {
		id, taken, err := spawn(ctx, o)
		if !taken {
			return id, err
		}
		id, err = awaitReady(ctx, o)
		var none *NotRunningError
		var stopping *StoppingError
		if !errors.As(err, &none) && !errors.As(err, &stopping) {
			return id, err
		}
		if err := AwaitFree(ctx, o.Name); err != nil {
			return Identity{}, err
		}
	}
	return Identity{}, unavailable(fmt.Errorf("the name %s is taken and given back again and again", o.Name))
}

// awaitReady waits until who has the name is ready, unless it is for another plugin.
func awaitReady(ctx context.Context, o SpawnOptions) (Identity, error) {
	c, err := reach(ctx, o.Name)
	if err != nil {
		return Identity{}, err
	}
	if o.Entry != "" && c.id.Entry != "" && c.id.Entry != o.Entry {
		_ = c.net.Close() // nothing reads it yet
		return c.id, nil
	}
	if c, err = c.greet(ctx); err != nil {
		return Identity{}, err
	}
	defer c.Close()
	if _, err := c.Ready(ctx); err != nil {
		if lost := (*LostError)(nil); errors.As(err, &lost) {
			err = unavailable(&NotRunningError{Name: o.Name})
		}
		return Identity{}, err
	}
	return c.Identity(), nil
}

// spawn starts one process. With taken, somebody else has the name.
func spawn(ctx context.Context, o SpawnOptions) (id Identity, taken bool, err error) {
	began := time.Now()
	path, err := os.Executable()
	if err != nil {
		return id, false, unavailable(err)
	}
	pipe, end, err := os.Pipe()
	if err != nil {
		return id, false, unavailable(err)
	}
	defer func() { _ = pipe.Close() }()
	said := &head{most: saidLimit}
	cmd := exec.Command(path, o.Args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = o.Env, o.Dir, detached()
	cmd.Stdout, cmd.Stderr = said, said // until it has a log
	cmd.ExtraFiles = []*os.File{end}    // becomes starterPipe
	cmd.WaitDelay = time.Second
	concealDescriptors()
	err = cmd.Start()
	_ = end.Close()
	if err != nil {
		return id, false, unavailable(err)
	}
	told := make(chan progress, 1)
	go func() { // ends with the pipe
		defer close(told)
		hear(pipe, o.Note, told)
	}()
	select {
	case p, ok := <-told:
		switch {
		case ok && p.Ready != nil:
			go func() { _ = cmd.Wait() }() // reaps it; ends with the daemon, or with us
			return *p.Ready, false, nil
		case ok:
			reap(cmd)
			return id, p.Taken, p.Failed.Error()
		}
		return id, false, silent(cmd, said, o.Name, began)
	case <-ctx.Done():
		terminate(cmd.Process)
		reap(cmd)
		return id, false, hook.Ended(ctx, "", "the plugin was not ready", began, false)
	}
}

// hear reads what a daemon tells until the start has succeeded or failed.
func hear(pipe io.Reader, note func(string), told chan<- progress) {
	for r := bufio.NewReader(pipe); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var p progress
		if json.Unmarshal(line, &p) != nil {
			return
		}
		if p.Ready != nil || p.Failed != nil {
			told <- p
			return
		}
		if note != nil && p.Note != "" {
			note(p.Note)
		}
	}
}

// silent tells of a daemon that ended without a word.
func silent(cmd *exec.Cmd, said *head, name string, began time.Time) error {
	terminate(cmd.Process)
	reap(cmd)
	e := &hook.Error{Kind: hook.Unavailable, Err: &EndedError{Log: leftLog(name)}}
	exit := hook.Exit{Code: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState), Uptime: time.Since(began)}
	if text := strings.TrimSpace(said.String()); text != "" {
		exit.Stderr = strings.Split(text, "\n")
	}
	e.Exit = &exit
	return e
}

// leftLog is the log of a name, where there is one.
func leftLog(name string) string {
	all, _ := places(name)
	there, _ := seen(all)
	for _, p := range there {
		if _, err := os.Lstat(p.log()); err == nil {
			return p.log()
		}
	}
	return ""
}

// reap waits until a daemon that is about to end is gone.
func reap(cmd *exec.Cmd) {
	late := time.AfterFunc(endLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait() // how it ended was asked for
}

// head keeps the first bytes that are written to it.
type head struct {
	most int
	mu   sync.Mutex
	kept []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, b[:min(len(b), h.most-len(h.kept))]...)
	return len(b), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.kept)
}
