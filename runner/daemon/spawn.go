package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// endLimit is how long a daemon whose start was abandoned may take to stop its processes, before
// Spawn kills it.
const endLimit = 15 * time.Second

// Spawn starts pyplug again with the arguments args, detached: in its own session, with nothing on
// its standard input and none of this process's descriptors. On Windows it has its own console,
// without a window, and leaves the caller's job if the job allows it. It returns when the daemon is
// ready. Until then note receives messages for the user.
//
// Errors are [*hook.Error]: the error of the start, such as of [Listen]; of kind Unavailable if the
// daemon could not be started or ended without a report; of kind Canceled or Timeout if ctx ended,
// which stops a half-started daemon. After an error no daemon is left.
func Spawn(ctx context.Context, args, environ []string, note func(text string)) (id Identity, err error) {
	path, err := os.Executable()
	if err != nil {
		return id, unavailable(err)
	}
	pipe, end, err := os.Pipe()
	if err != nil {
		return id, unavailable(err)
	}
	defer func() { _ = pipe.Close() }()
	var output bytes.Buffer // receives the output until the daemon has a log
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, &output, &output
	cmd.WaitDelay = time.Second
	if warning := detach(cmd, end); warning != "" {
		note(warning)
	}
	err = cmd.Start()
	_ = end.Close()
	if err != nil {
		return id, unavailable(err)
	}
	reports := make(chan progress, 1)
	go func() { reports <- readProgress(pipe, note) }() // ends with the pipe
	select {
	case p := <-reports:
		if p.Ready {
			go func() { _ = cmd.Wait() }() // reaps it; ends with the daemon or with this process
			return *p.Named, nil
		}
		if p.Failed != nil {
			reap(cmd)
			return id, p.Failed
		}
		_ = terminate(cmd.Process) // the process may have ended
		reap(cmd)
		return id, endedError(cmd, output.String(), p.Named)
	case <-ctx.Done():
		_ = terminate(cmd.Process)
		reap(cmd)
		return id, hook.Ended(ctx, "", "the plugin was not ready", false)
	}
}

// reap waits for a daemon that is about to end. It kills the daemon after endLimit.
func reap(cmd *exec.Cmd) {
	late := time.AfterFunc(endLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait() // the caller knows that the daemon failed
}

// endedError returns the error of a daemon that ended without a report.
func endedError(cmd *exec.Cmd, output string, named *Identity) error {
	e := unavailable(fmt.Errorf("the daemon exited before it was ready: %v", cmd.ProcessState))
	if named != nil {
		e.Hints = logHint(named.Log)
	}
	if text := strings.TrimSpace(output); text != "" {
		e.Drawing = strings.Split(text, "\n")
	}
	return e
}

// progress is one line that a daemon reports to its starter. Exactly one field is set.
type progress struct {
	Note   string      `json:"note,omitempty"`
	Named  *Identity   `json:"named,omitempty"` // the daemon has acquired its name
	Ready  bool        `json:"ready,omitempty"`
	Failed *hook.Error `json:"failed,omitempty"`
}

// readProgress reads the reports of a daemon until its start has succeeded or failed, or it has
// ended, and returns the last report of each kind.
func readProgress(pipe io.Reader, note func(string)) (p progress) {
	for lines := json.NewDecoder(bufio.NewReader(pipe)); !p.Ready && p.Failed == nil; {
		p.Note = ""
		var text json.RawMessage
		if lines.Decode(&text) != nil || schema.Decode(text, &p) != nil {
			break
		}
		if p.Note != "" {
			note(p.Note)
		}
	}
	return p
}

// Starter is the process that started this daemon and waits for it. The methods of a nil Starter do
// nothing. It is safe for concurrent use.
type Starter struct{ pipe *os.File }

// OpenStarter returns the process that started this one with [Spawn], or nil if there is no pipe to
// it. Call it once, before descriptors are opened.
func OpenStarter() *Starter {
	pipe := inheritedPipe()
	if pipe == nil {
		return nil
	}
	return &Starter{pipe}
}

// Note reports a message for the user, such as a warning.
func (s *Starter) Note(text string) { s.send(progress{Note: text}) }

// Fail reports why the daemon did not start.
func (s *Starter) Fail(e *hook.Error) { s.send(progress{Failed: e}) }

// send writes one line. It ignores errors, because the starter may be gone or may already have its
// answer.
func (s *Starter) send(p progress) {
	if s == nil {
		return
	}
	if text, err := json.Marshal(p); err == nil {
		_, _ = s.pipe.Write(append(text, '\n'))
	}
	if p.Ready || p.Failed != nil {
		_ = s.pipe.Close()
	}
}

// wordsVariable passes flags to the process in the background. They may contain secrets, such as
// those of --env and --header. Every user of the machine can read the command line of a process,
// but only the same user can read its environment.
const wordsVariable = "PYPLUG_DAEMON_WORDS"

// HandOver returns the variable with which [Spawn] passes words that other users must not see. The
// words need not be UTF-8.
func HandOver(words []string) string { return wordsVariable + "=" + url.Values{"": words}.Encode() }

// TakeOver returns the words that were passed to this process. It removes them from the
// environment, because they are not for the plugin.
func TakeOver() []string {
	values, _ := url.ParseQuery(os.Getenv(wordsVariable)) // HandOver wrote it
	_ = os.Unsetenv(wordsVariable)                        // fails only for an invalid name
	return values[""]
}
