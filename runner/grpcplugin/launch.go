package grpcplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// Evidence records what a plugin did while it started.
type Evidence struct {
	// Text is the handshake line as the plugin printed it. Line is the parsed line, or empty if
	// pyplug rejected it.
	Text string
	Line handshake.Line
	// NoiseLines is the number of lines before the handshake, and Noise is the first of them, quoted
	// and perhaps shortened. pyplug tolerates them, but other hosts reject the plugin.
	Noise      string
	NoiseLines int
	// Exposed reports that the plugin listens on all interfaces, as far as the system tells.
	Exposed bool
	// Service is the name in the request to the health service.
	Service string
	// Unhealthy is the error of the health check if the start tolerated it because the plugin has
	// no health service, or because of [Config.AnyHealth]. It is nil if the plugin is healthy.
	Unhealthy *hook.Error
	// Handshake, Connect and Health are the durations of the three steps. The duration of a step
	// that was not reached is 0.
	Handshake, Connect, Health time.Duration
}

// launch is a launch of an instance in progress.
type launch struct {
	*Instance
	ctx     context.Context
	spec    proc.Spec
	scanner *scanner
}

// Launch starts one plugin and returns it when its health service answers SERVING. See
// [hook.Launcher]. The instance is an [*Instance].
func (l *Launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if ctx.Err() != nil {
		return nil, hook.Ended(ctx, "", "no start", false)
	}
	n := &launch{ctx: ctx, Instance: newInstance(&l.cfg)}
	herr := n.run()
	if l.cfg.Observe != nil {
		l.cfg.Observe(n.evidence)
	}
	if herr != nil {
		switch {
		case n.proc == nil:
		case herr.Kind == hook.Unhealthy:
			n.disconnect()
			n.out.stop()
			n.proc.Stop(ctx, nil) // the plugin works, so it gets time to clean up
		default:
			n.proc.Kill()
		}
		n.release()
		return nil, l.explain(herr)
	}
	go func() { // ends with the process
		<-n.proc.Done()
		n.release()
		close(n.done)
	}()
	if herr := l.register(ctx, n.Instance); herr != nil {
		return nil, herr
	}
	return n.Instance, nil
}

// run performs all steps of the launch, up to a healthy instance.
func (l *launch) run() *hook.Error {
	if err := l.prepare(); err != nil {
		return &hook.Error{Kind: hook.Internal, Err: err}
	}
	began := time.Now()
	for _, step := range []func() *hook.Error{l.start, l.connect, l.checkHealth} {
		if herr := step(); herr != nil {
			return herr
		}
	}
	l.info = hook.Info{PID: l.proc.PID(), Started: l.proc.Started(), Ready: time.Since(began), MayCollide: true}
	l.cfg.Debug("grpc", fmt.Sprintf("ready after %s", l.info.Ready))
	return nil
}

// prepare sets up how the process is started.
func (l *launch) prepare() error {
	// The path of a socket may have about a hundred bytes: below the parent it needs 12 for the
	// directory, and 41 for the slash and the name that the plugin chooses.
	parent, err := proc.TempDir(handshake.MaxSocket() - 12 - 41)
	if err == nil {
		l.dir, err = os.MkdirTemp(parent, "s")
	}
	if err != nil {
		return fmt.Errorf("directory for sockets: %w", err)
	}
	var certificate []byte
	if l.cfg.MTLS {
		if l.tls, certificate, err = newCertificate(); err != nil {
			return err
		}
	}
	l.scanner = &scanner{out: l.out, found: make(chan string, 1)}
	l.spec = proc.Spec{
		Path: l.cfg.Path, Args: l.cfg.Args, Env: l.environment(certificate), Dir: l.cfg.Dir,
		Grace: l.cfg.StopTimeout, AskTime: l.cfg.StopTimeout, MaxMemory: l.cfg.MaxMemory, OnLine: l.scanner.scan,
	}
	return nil
}

// environment returns the plugin's environment with the variables that a host sets. It
// drops the variables that another host has set for pyplug itself.
func (l *launch) environment(certificate []byte) []string {
	set := handshake.Env(handshake.Host{
		CookieKey: l.cfg.CookieKey, CookieValue: l.cfg.CookieValue,
		Versions: l.cfg.Versions, SocketDir: l.dir, ClientCert: string(certificate),
	})
	if l.cfg.Python {
		set = append(set, "PYTHONUNBUFFERED=1", "PYTHONFAULTHANDLER=1")
	}
	return proc.Environ(proc.Without(l.cfg.Env, handshake.Variables...), false, set)
}

// tempDir returns the plugin's directory for temporary files. The plugin may also create its socket
// there.
func tempDir(env []string) string {
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "TMPDIR="); ok && filepath.IsAbs(dir) {
			return dir
		}
	}
	return os.TempDir()
}

// start starts the process and waits for its handshake.
func (l *launch) start() *hook.Error {
	started, err := proc.Start(l.spec)
	if err != nil {
		kind := hook.Start
		if l.cfg.Python {
			kind = hook.Interpreter
		}
		e := hook.NewError(kind, err)
		e.Permanent = l.cfg.Python
		return e
	}
	l.proc = started
	l.cfg.Debug("proc", fmt.Sprintf("started %s, pid %d", l.cfg.Path, started.PID()))
	if l.cfg.Sources != nil {
		l.sources = sync.OnceValues(l.cfg.Sources)
		go l.sources() // ends when the files are read
	}
	defer func() {
		said := l.scanner.heard()
		l.evidence.Noise, l.evidence.NoiseLines = said.noise, said.lines
	}()
	limited, cancel := hook.WithLimit(l.ctx, l.cfg.StartTimeout)
	defer cancel()
	select {
	case text := <-l.scanner.found:
		return l.verify(text)
	case <-started.Done():
		select {
		case text := <-l.scanner.found:
			return cmp.Or(l.verify(text), l.exitedEarly(nil))
		default:
			return l.exitedEarly(l.scanner.missing(l.cfg, 0))
		}
	case <-limited.Done():
		e, late := hook.Ended(limited, "", "no handshake on standard output", false), l.ctx.Err() == nil
		exit := started.Kill()
		if late {
			e = l.scanner.missing(l.cfg, l.cfg.StartTimeout)
			e.Kind = hook.Handshake
		}
		e.At = hook.StackFrames(exit.Stacks)
		return e
	}
}

// verify parses the handshake and checks that it allows a connection.
func (l *launch) verify(text string) *hook.Error {
	l.evidence.Text, l.evidence.Handshake = text, time.Since(l.proc.Started())
	line, err := handshake.Parse(text)
	if err == nil {
		err = line.Resolve(l.lookup)
	}
	if err == nil {
		dirs := []string{l.dir, tempDir(l.spec.Env)}
		err = line.Verify(handshake.Want{Versions: l.cfg.Versions, TLS: l.cfg.MTLS, Dirs: dirs})
	}
	if err != nil {
		e := hook.NewError(hook.Handshake, err)
		e.Reason, e.Permanent = ReasonBadHandshake, true
		if fault := (*handshake.Error)(nil); errors.As(err, &fault) {
			e.Hints, e.Drawing = lineHints(fault), fault.Drawing()
			if fault.Name == "protocol" && !l.cfg.Python && (fault.Seen == "netrpc" || fault.Seen == "") { // a program in Go may support netrpc
				e.Err, e.Hints = fmt.Errorf("it is a net/rpc plugin: %w", err), schema.Hints(`serve gRPC and print "grpc" as the fifth field: pyplug does not support net/rpc`)
			}
		}
		return e
	}
	l.evidence.Line = line
	l.cfg.Debug("grpc", "handshake "+text)
	return nil
}

// lookup resolves a name in the handshake.
func (l *launch) lookup(host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.cfg.ConnectTimeout)
	defer cancel()
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// exitedEarly returns the error of a process that exited before it was ready. e is the error of its
// handshake, or nil if the process exited after the handshake. A traceback on standard error
// replaces that error.
func (l *launch) exitedEarly(e *hook.Error) *hook.Error {
	if e == nil {
		e = &hook.Error{Err: errors.New("the plugin exited before it was ready")}
	}
	exit := hook.Exit(l.proc.Exit())
	e.Kind, e.Exit, e.At = hook.Start, &exit, hook.StackFrames(exit.Stderr)
	e.Python = lastTraceback(exit.Stderr)
	e.Permanent = e.Python.Permanent()
	module := missingModule(e.Python, exit.Stderr)
	switch {
	case module != nil, e.Python != nil:
		e.Reason, e.Hints, e.Err = "", e.Python.Hints(l.cfg.Dir), nil
	case l.cfg.Python && exit.Code == 0 && exit.Signal == "" && !l.scanner.heard().wantsCookie:
		e.Hints = append(e.Hints, schema.Hintf("keep it serving: server.wait_for_termination()"))
	}
	if module != nil {
		e.Err = module
		if l.cfg.Missing != nil {
			e.Hints = append(e.Hints, l.cfg.Missing(module)...)
		}
	}
	return e
}

// checkHealth asks the health service once.
func (l *launch) checkHealth() *hook.Error {
	began := time.Now()
	ctx, cancel := hook.WithLimit(l.ctx, l.cfg.HealthTimeout)
	defer cancel()
	e, _ := l.askHealth(ctx)
	l.evidence.Health = time.Since(began)
	switch {
	case e == nil:
		return nil
	case e.Kind == hook.Timeout && l.ctx.Err() == nil:
		e = &hook.Error{Kind: hook.Unhealthy, Reason: ReasonSilent, Err: e.Err}
	case e.Status != nil && l.exits():
		return l.exitedEarly(nil)
	case e.Reason == ReasonNoHealth:
		e.Hints = schema.Hints("serve it, in Python with grpcio-health-checking, and set the service %q to SERVING", l.cfg.Service)
	}
	if e.Kind == hook.Unhealthy && (l.cfg.AnyHealth || LacksHealth(e, l.cfg.Service)) {
		l.evidence.Unhealthy = e
		return nil
	}
	return e
}

// ReasonAddressInUse is the reason of a start that failed because another instance of the launcher
// already listens at the same address.
const ReasonAddressInUse = "address-in-use"

// register records the address of an instance. Python's gRPC lets two processes listen at one
// address, and a call could reach either of them. In this case register stops the newer instance.
func (l *Launcher) register(ctx context.Context, i *Instance) *hook.Error {
	at := i.evidence.Line.Address
	l.mu.Lock()
	taken := slices.ContainsFunc(l.alive(), func(other *Instance) bool { return other.evidence.Line.Address == at })
	if !taken {
		l.living = append(l.living, i)
	}
	l.mu.Unlock()
	if !taken {
		return nil
	}
	_ = i.Stop(ctx) // the caller needs only the error about the address
	return inUse(hook.Error{Kind: hook.Start}, at)
}

// alive returns the instances that have not exited. The caller holds l.mu.
func (l *Launcher) alive() []*Instance {
	l.living = slices.DeleteFunc(l.living, (*Instance).Exited)
	return l.living
}

// portTaken lists the messages of Python and Go, of gRPC in Python, and of Windows if another
// program has the port.
var portTaken = []string{"address already in use", "failed to bind to address", "only one usage of each socket address"}

// explain sets [ReasonAddressInUse] if a start failed because another instance has the port.
func (l *Launcher) explain(e *hook.Error) *hook.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := e.Error()
	if e.Exit != nil {
		said += "\n" + strings.Join(e.Exit.Stderr, "\n")
	}
	said = strings.ToLower(said)
	taken := e.Reason == ReasonForeignAddress ||
		slices.ContainsFunc(portTaken, func(words string) bool { return strings.Contains(said, words) })
	if others := l.alive(); taken && len(others) > 0 {
		return inUse(*e, others[0].evidence.Line.Address)
	}
	return e
}

func inUse(e hook.Error, address string) *hook.Error {
	e.Reason, e.Alone, e.Permanent = ReasonAddressInUse, true, false
	e.Err = fmt.Errorf("the running plugin already listens at %s", address)
	e.Hints = append(e.Hints, schema.Hintf("listen on port 0 and print the address that the system chose, so that several workers can run"))
	return &e
}
