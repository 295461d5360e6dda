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
	// endLimit is how long a daemon whose start was given up may take to stop what it
	// started, before Spawn kills it.
	endLimit = 15 * time.Second
	// outputLimit bounds what is kept of a daemon's output before it has a log.
	outputLimit = 64 << 10
	// spawns is how often Spawn tries a name whose holder ends each time.
	spawns = 5
)

// SpawnOptions say what to start in the background.
type SpawnOptions struct {
	// Name is the name that the daemon will acquire.
	Name string
	// Entry is the file that it will run. Spawn does not wait for a daemon of the
	// name that runs another file, unless Entry is empty.
	Entry string
	// Args are pyplug's arguments without the program; Env is the environment and
	// Dir the directory, our own if empty.
	Args []string
	Env  []string
	Dir  string
	// Note receives what the user should know meanwhile; nil ignores it.
	Note func(text string)
}

// Spawn starts pyplug again, detached: in a session of its own, with nothing on its
// standard input and none of our descriptors. It returns when the daemon is ready. If
// another daemon has the name, Spawn waits until that one is ready and returns its
// Identity: the caller checks whether it is the wanted plugin. Spawn also waits for a
// daemon that is being stopped.
//
// Errors are [*hook.Error]: the error of the start; of kind Unavailable if the daemon
// could not be started, ended without a report or does not answer; of kind Canceled or
// Timeout if ctx ended, which stops a half-started daemon. None is left then.
func Spawn(ctx context.Context, o SpawnOptions) (Identity, error) {
	if !supported {
		return Identity{}, unavailable(errWindows)
	}
	for range spawns {
		id, err := spawn(ctx, o)
		if !Is(err, Taken) && !Is(err, AlreadyRuns) {
			return id, err
		}
		id, err = awaitReady(ctx, o)
		if !Is(err, NotRunning) && !Is(err, Stopping) && !Is(err, Lost) {
			return id, err
		}
		if err := AwaitFree(ctx, o.Name); err != nil {
			return Identity{}, err
		}
	}
	return Identity{}, unavailable(fmt.Errorf("other processes acquire and release the name %s again and again", o.Name))
}

// awaitReady waits until the daemon of the name is ready, unless it runs another
// plugin.
func awaitReady(ctx context.Context, o SpawnOptions) (Identity, error) {
	c, err := Look(ctx, o.Name)
	if err != nil {
		return Identity{}, err
	}
	if o.Entry != "" && c.id.Entry != "" && c.id.Entry != o.Entry {
		return c.id, nil
	}
	if c.id.API != API {
		return Identity{}, versionError(o.Name, c.id)
	}
	if _, _, err := c.Ready(ctx); err != nil {
		return Identity{}, err
	}
	return c.id, nil
}

// spawn starts one process. The error has reason [Taken] or [AlreadyRuns] if another
// process has the name.
func spawn(ctx context.Context, o SpawnOptions) (id Identity, err error) {
	began := time.Now()
	path, err := os.Executable()
	if err != nil {
		return id, unavailable(err)
	}
	pipe, end, err := os.Pipe()
	if err != nil {
		return id, unavailable(err)
	}
	defer func() { _ = pipe.Close() }()
	output := &head{}
	cmd := exec.Command(path, o.Args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = o.Env, o.Dir, detached()
	cmd.Stdout, cmd.Stderr = output, output // until it has a log
	cmd.ExtraFiles = []*os.File{end}        // becomes starterPipe
	cmd.WaitDelay = time.Second
	concealDescriptors()
	err = cmd.Start()
	_ = end.Close()
	if err != nil {
		return id, unavailable(err)
	}
	reports := make(chan progress, 1)
	go func() { // ends with the pipe
		defer close(reports)
		readProgress(pipe, o.Note, reports)
	}()
	select {
	case p, ok := <-reports:
		switch {
		case ok && p.Ready != nil:
			go func() { _ = cmd.Wait() }() // reaps it; ends with the daemon, or with us
			return *p.Ready, nil
		case ok:
			reap(cmd)
			return id, p.Failed
		}
		return id, endedError(cmd, output, o.Name, began)
	case <-ctx.Done():
		terminate(cmd.Process)
		reap(cmd)
		return id, hook.Ended(ctx, "", "the plugin was not ready", began, false)
	}
}

// readProgress reads what a daemon reports until its start has succeeded or failed.
func readProgress(pipe io.Reader, note func(string), reports chan<- progress) {
	for lines := json.NewDecoder(bufio.NewReader(pipe)); ; {
		var p progress
		if lines.Decode(&p) != nil {
			return
		}
		if p.Ready != nil || p.Failed != nil {
			reports <- p
			return
		}
		if note != nil && p.Note != "" {
			note(p.Note)
		}
	}
}

// endedError is the error of a daemon that ended without a report.
func endedError(cmd *exec.Cmd, output *head, name string, began time.Time) error {
	terminate(cmd.Process)
	reap(cmd)
	e := unavailable(errors.New("the daemon ended before it was ready"))
	there, _ := search(name)
	for _, p := range there {
		e.Hints = append(e.Hints, logHint(p.log())...)
	}
	e.Exit = &hook.Exit{Code: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState), Uptime: time.Since(began)}
	if text := strings.TrimSpace(output.String()); text != "" {
		e.Exit.Stderr = strings.Split(text, "\n")
	}
	return e
}

// reap waits until a daemon that is about to end is gone.
func reap(cmd *exec.Cmd) {
	late := time.AfterFunc(endLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait() // the caller knows that it failed
}

// head keeps the first outputLimit bytes written to it.
type head struct {
	mu   sync.Mutex
	kept []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, b[:min(len(b), outputLimit-len(h.kept))]...)
	return len(b), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.kept)
}
