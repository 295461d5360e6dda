package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// endLimit is how long a daemon whose start was given up may take to stop what it
	// started, before Spawn kills it.
	endLimit = 15 * time.Second
	// spawns is how often Spawn tries a name whose holder ends each time.
	spawns = 5
	// starterPipe is the descriptor of the pipe on which a daemon that [Spawn] started
	// reports.
	starterPipe = 3
)

// SpawnOptions say what to start in the background.
type SpawnOptions struct {
	// Name is the name that the daemon will acquire.
	Name string
	// Entry is the file that it will run. Spawn does not wait for a daemon of the
	// name that runs another file, unless Entry is empty.
	Entry string
	// Args are pyplug's arguments without the program, Env is the environment, our
	// own if nil.
	Args, Env []string
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
		if id, err = awaitReady(ctx, o); !Is(err, NotRunning) {
			return id, err
		}
	}
	return Identity{}, unavailable(fmt.Errorf("other processes acquire and release the name %s again and again", o.Name))
}

// awaitReady waits until the daemon of the name is ready, unless it runs another
// plugin. The error has reason [NotRunning] once it has ended.
func awaitReady(ctx context.Context, o SpawnOptions) (Identity, error) {
	c, err := look(ctx, o.Name)
	if err != nil {
		return Identity{}, err
	}
	if o.Entry != "" && c.id.Entry != "" && c.id.Entry != o.Entry {
		return c.id, nil
	}
	if c.id.API != API {
		return Identity{}, versionError(o.Name, c.id)
	}
	_, _, err = c.Ready(ctx)
	if !Is(err, Stopping) && !Is(err, Lost) {
		return c.id, err
	}
	if err := c.AwaitFree(ctx); err != nil {
		return Identity{}, err
	}
	return Identity{}, NotRunningError(o.Name)
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
	var output bytes.Buffer // until it has a log
	cmd := exec.Command(path, o.Args...)
	cmd.Env, cmd.SysProcAttr = o.Env, detached()
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.ExtraFiles = []*os.File{end} // becomes starterPipe
	cmd.WaitDelay = time.Second
	concealDescriptors()
	err = cmd.Start()
	_ = end.Close()
	if err != nil {
		return id, unavailable(err)
	}
	reports := make(chan progress, 1)
	go func() { reports <- readProgress(pipe, o.Note) }() // ends with the pipe
	select {
	case p := <-reports:
		if p.Ready != nil {
			go func() { _ = cmd.Wait() }() // reaps it; ends with the daemon, or with us
			return *p.Ready, nil
		}
		if p.Failed != nil {
			reap(cmd)
			return id, p.Failed
		}
		_ = terminate(cmd.Process) // it may have ended
		reap(cmd)
		return id, endedError(cmd, output.String(), o.Name, began)
	case <-ctx.Done():
		_ = terminate(cmd.Process)
		reap(cmd)
		return id, hook.Ended(ctx, "", "the plugin was not ready", began, false)
	}
}

// reap waits until a daemon that is about to end is gone.
func reap(cmd *exec.Cmd) {
	late := time.AfterFunc(endLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait() // the caller knows that it failed
}

// endedError is the error of a daemon that ended without a report.
func endedError(cmd *exec.Cmd, output, name string, began time.Time) error {
	e := unavailable(errors.New("the daemon ended before it was ready"))
	there, _ := search(name)
	for _, p := range there {
		e.Hints = append(e.Hints, logHint(p.log())...)
	}
	e.Exit = &hook.Exit{Code: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState), Uptime: time.Since(began)}
	if text := strings.TrimSpace(output); text != "" {
		e.Exit.Stderr = strings.Split(text, "\n")
	}
	return e
}

// progress is one line that a daemon reports to its starter. One field is set.
type progress struct {
	Note   string      `json:"note,omitempty"`
	Ready  *Identity   `json:"ready,omitempty"`
	Failed *hook.Error `json:"failed,omitempty"`
}

// readProgress reads what a daemon reports until its start has succeeded or failed; the
// zero progress if it ended before.
func readProgress(pipe io.Reader, note func(string)) progress {
	for lines := json.NewDecoder(bufio.NewReader(pipe)); ; {
		var p progress
		if lines.Decode(&p) != nil || p.Ready != nil || p.Failed != nil {
			return p
		}
		if note != nil {
			note(p.Note)
		}
	}
}

// Starter is the process that started this daemon and waits for it. A nil Starter is
// nobody: its methods do nothing. It is safe for concurrent use.
type Starter struct{ pipe *os.File }

// OpenStarter returns the process that started this one by [Spawn], or nil if the
// descriptor of the pipe is no pipe. It is called once, before descriptors are opened.
func OpenStarter() *Starter {
	if !inheritedPipe(starterPipe) {
		return nil
	}
	return &Starter{pipe: os.NewFile(starterPipe, "starter")}
}

// Note reports something that the user should know, such as a warning.
func (s *Starter) Note(text string) { s.send(progress{Note: text}) }

// Fail reports why there is no daemon. If the reason is [Taken] or [AlreadyRuns],
// Spawn waits for the process that has the name.
func (s *Starter) Fail(e *hook.Error) { s.send(progress{Failed: e}) }

// send writes one line. It ignores that the starter is gone, or has its answer.
func (s *Starter) send(p progress) {
	if s == nil {
		return
	}
	if text, err := json.Marshal(p); err == nil {
		_, _ = s.pipe.Write(append(text, '\n'))
	}
	if p.Note == "" {
		_ = s.pipe.Close()
	}
}
