package grpcplugin

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// process is go-plugin's runner for a process of package proc. It verifies the
// handshake before go-plugin reads it.
type process struct {
	cfg  *Config
	ctx  context.Context // of the launch; go-plugin passes another one
	spec proc.Spec
	want handshake.Want
	dir  string // for the plugin's sockets

	out     *output
	scanner *scanner
	proc    *proc.Process // nil until started
	text    string        // the handshake as it was printed
	line    handshake.Line

	sources       func() ([]protoschema.Source, error) // those of Config.Sources
	cancelSources context.CancelFunc
}

var _ runner.Runner = (*process)(nil)

// Start starts the process and waits for its handshake. An error is a
// [*hook.Error], and the process is gone then.
func (p *process) Start(context.Context) error {
	if err := p.start(); err != nil {
		return err
	}
	return nil
}

func (p *process) start() *hook.Error {
	started, err := proc.Start(p.spec)
	if err != nil {
		kind := hook.Start
		if p.cfg.Python {
			kind = hook.Interpreter
		}
		return hook.NewError(kind, err)
	}
	p.proc = started
	p.readSources()
	p.cfg.debug("proc", "started "+p.cfg.Path+", pid "+strconv.Itoa(started.PID()))
	limit := time.NewTimer(p.cfg.StartTimeout)
	defer limit.Stop()
	select {
	case text := <-p.scanner.found:
		return p.verify(text)
	case <-started.Done():
		select {
		case text := <-p.scanner.found:
			if err := p.verify(text); err != nil {
				return err
			}
			return p.exitError(&hook.Error{Err: errNotReady})
		default:
		}
		return p.exitError(p.scanner.missing(p.cfg, 0, "", started.Exit().Stderr))
	case <-limit.C:
		exit := started.Kill()
		unended := ""
		select {
		case unended = <-p.scanner.found: // the exit ended its line
		default:
		}
		e := p.scanner.missing(p.cfg, p.cfg.StartTimeout, unended, exit.Stderr)
		e.Kind, e.At = hook.Handshake, hook.StackFrames(exit.Stacks)
		return e
	case <-p.ctx.Done():
		exit := started.Kill()
		e := hook.Ended(p.ctx, "", "no handshake on standard output", started.Started(), false)
		e.At = hook.StackFrames(exit.Stacks)
		return e
	}
}

// verify parses the handshake and checks that it allows a connection.
func (p *process) verify(text string) *hook.Error {
	p.text = text
	line, err := handshake.Parse(text)
	if err == nil {
		err = line.Verify(p.want)
	}
	if err != nil {
		p.proc.Kill()
		e := hook.NewError(hook.Handshake, err)
		e.Reason = ReasonBadHandshake
		return e
	}
	p.line = line
	p.cfg.debug("grpc", "handshake "+text)
	return nil
}

// exitError completes the error of a process that exited before it was ready. A
// traceback on its standard error says more than e does.
func (p *process) exitError(e *hook.Error) *hook.Error {
	exit := hook.Exit(p.proc.Exit())
	e.Kind, e.Exit, e.At = hook.Start, &exit, hook.StackFrames(exit.Stderr)
	e.Python = lastTraceback(exit.Stderr)
	if module := missingModule(e.Python, exit.Stderr); module != nil {
		e.Reason, e.Hints, e.Err = "", nil, module
	} else if e.Python != nil {
		e.Reason, e.Hints, e.Err = "", nil, nil
	}
	return e
}

// readSources calls Config.Sources in the background, until release.
func (p *process) readSources() {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancelSources = cancel
	p.sources = sync.OnceValues(func() ([]protoschema.Source, error) {
		if p.cfg.Sources == nil {
			return nil, nil
		}
		return p.cfg.Sources(ctx)
	})
	go p.sources()
}

// release releases what the process used. It must have exited.
func (p *process) release() {
	if p.proc != nil {
		p.cancelSources()
	}
	p.out.end()
	os.RemoveAll(p.dir)
}

// Stdout returns the handshake alone: proc drains what follows, and go-plugin does
// not need it.
func (p *process) Stdout() io.ReadCloser {
	return io.NopCloser(strings.NewReader(p.line.String() + "\n"))
}

// Stderr is empty: proc drains it.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name returns the program.
func (p *process) Name() string { return p.cfg.Path }

// Diagnose adds nothing to the error of Start.
func (p *process) Diagnose(context.Context) string { return "" }

// Wait returns when the process tree is gone.
func (p *process) Wait(context.Context) error {
	p.proc.Exit()
	return nil
}

// Kill kills the process tree. go-plugin calls it when it rejects a handshake that
// pyplug accepts.
func (p *process) Kill(context.Context) error {
	p.proc.Kill()
	return nil
}

// ID returns the process's number.
func (p *process) ID() string { return strconv.Itoa(p.proc.PID()) }

// PluginToHost changes nothing: the plugin runs on this machine.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin changes nothing.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
