package grpcplugin

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

// process is what go-plugin takes for its runner: a process of package proc
// whose handshake has been judged before go-plugin reads it.
type process struct {
	cfg  *Config
	ctx  context.Context // of the launch, which go-plugin does not hand through
	spec proc.Spec
	want handshake.Want

	out    *output
	intake *intake

	proc     *proc.Process // nil until started
	foretold *foretold     // likewise
	text     string        // the line as it was printed
	line     handshake.Line
}

var _ runner.Runner = (*process)(nil)

// Start starts the process and waits for its handshake. An error is a
// [*hook.Error], and nothing is left of the process then.
func (r *process) Start(context.Context) error {
	if err := r.start(); err != nil {
		return err
	}
	return nil
}

func (r *process) start() *hook.Error {
	r.intake = newIntake(r.out, handshake.Looks)
	r.spec.OnLine = r.intake.take
	p, err := proc.Start(r.spec)
	if err != nil {
		kind := hook.Start
		if r.cfg.Python {
			kind = hook.Interpreter
		}
		return &hook.Error{Kind: kind, Err: err}
	}
	r.proc, r.foretold = p, foretell(r.cfg.Sources)
	r.cfg.debug("proc", "started "+r.cfg.Path+", pid "+strconv.Itoa(p.PID()))
	limit := time.NewTimer(r.cfg.StartTimeout)
	defer limit.Stop()
	select {
	case text := <-r.intake.found:
		return r.judge(text)
	case <-p.Done():
		select {
		case text := <-r.intake.found:
			if err := r.judge(text); err != nil {
				return err
			}
			return r.ended(errors.New("the plugin ended right after its handshake"))
		default:
		}
		return r.ended(r.intake.none())
	case <-limit.C:
		exit := p.Kill()
		none := r.intake.none()
		none.Limit = r.cfg.StartTimeout
		select {
		case none.Unended = <-r.intake.found: // what was printed has an end now
		default:
		}
		return &hook.Error{Kind: hook.Handshake, At: hook.StackFrames(exit.Stacks), Err: none}
	case <-r.ctx.Done():
		began := p.Started()
		exit := p.Kill()
		e := hook.Ended(r.ctx, "", "no handshake on standard output", began, false)
		e.At = hook.StackFrames(exit.Stacks)
		return e
	}
}

// judge reads the handshake and decides whether a connection may be made.
func (r *process) judge(text string) *hook.Error {
	r.text = text
	line, err := handshake.Parse(text)
	if err == nil {
		err = line.Verify(r.want)
	}
	if err != nil {
		r.proc.Kill()
		return &hook.Error{Kind: hook.Handshake, Err: err}
	}
	r.line = line
	r.cfg.debug("grpc", "handshake "+text)
	return nil
}

// ended tells of a process that ended before it was ready.
func (r *process) ended(why error) *hook.Error {
	exit := hook.Exit(r.proc.Exit())
	e := &hook.Error{Kind: hook.Start, Exit: &exit, Err: why}
	e.Python, e.At = lastTraceback(exit.Stderr), hook.StackFrames(exit.Stderr)
	if module := missingModule(e.Python, exit.Stderr); module != nil {
		e.Err = module
	} else if e.Python != nil {
		e.Err = nil
	}
	return e
}

// Stdout is the handshake and nothing after it: what follows is drained by
// proc, and go-plugin has no use for it.
func (r *process) Stdout() io.ReadCloser {
	return io.NopCloser(strings.NewReader(r.line.String() + "\n"))
}

// Stderr is empty: proc drains it.
func (r *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name is the program.
func (r *process) Name() string { return r.cfg.Path }

// Diagnose adds nothing: what there is to say is said by Start.
func (r *process) Diagnose(context.Context) string { return "" }

// Wait returns when the process and all that it started are gone.
func (r *process) Wait(context.Context) error {
	r.proc.Exit()
	return nil
}

// Kill ends the process and all that it started. go-plugin calls it when it
// refuses a handshake that we took.
func (r *process) Kill(context.Context) error {
	r.proc.Kill()
	return nil
}

// ID is the process's number.
func (r *process) ID() string { return strconv.Itoa(r.proc.PID()) }

// PluginToHost changes nothing: the plugin is on this machine.
func (r *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin changes nothing.
func (r *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
