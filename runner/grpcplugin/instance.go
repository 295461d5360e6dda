package grpcplugin

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

const (
	// exitLimit is how long a process may take to exit after its connection
	// broke.
	exitLimit = 2 * time.Second
	// drainLimit is how long the other calls of an unresponsive plugin may take.
	drainLimit = 5 * time.Second
	// shutdownLimit is how long a plugin may take to exit after the Shutdown RPC.
	shutdownLimit = time.Second

	shutdownMethod = "/plugin.GRPCController/Shutdown"
)

// Instance is one gRPC plugin.
type Instance struct {
	cfg      *Config
	process  *process
	proc     *proc.Process
	conn     *grpc.ClientConn
	protocol plugin.ClientProtocol
	evidence Evidence
	info     hook.Info
	done     chan struct{} // closed when nothing of the plugin is left

	describing chan struct{} // has room for the goroutine that sets methods
	methods    *protoschema.Descriptors

	stopOnce sync.Once
	asked    chan struct{} // closed when Shutdown was called and had its time

	mu           sync.Mutex // protects following
	running      int        // calls in progress
	stopping     bool
	refused      bool // the plugin did not serve Shutdown
	unresponsive bool
	idle         chan struct{} // closed when an unresponsive plugin has no call left
	probing      int           // probes in progress of whether it still responds
	probed       chan struct{} // closed when those have ended
}

var _ hook.Instance = (*Instance)(nil)

func newInstance(p *process, protocol plugin.ClientProtocol) *Instance {
	return &Instance{
		cfg: p.cfg, process: p, proc: p.proc, protocol: protocol, conn: protocol.(*plugin.GRPCClient).Conn,
		done: make(chan struct{}), describing: make(chan struct{}, 1),
		asked: make(chan struct{}), idle: make(chan struct{}),
	}
}

// Concurrency is how many streams HTTP/2 servers accept by default. A server with
// fewer threads queues the calls.
func (i *Instance) Concurrency() int { return 100 }

// Done is closed when the process and everything it started are gone.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Info describes the process. The protocol does not say which Python it runs.
func (i *Instance) Info() hook.Info { return i.info }

// Exited reports whether the process has exited. Done is closed later, once what it
// started is gone, too.
func (i *Instance) Exited() bool { return i.proc.Exited() }

// Evidence is what was seen while it started.
func (i *Instance) Evidence() Evidence { return i.evidence }

// Crash ends the process as something outside of pyplug would. It returns
// [os.ErrProcessDone] if the process has exited.
func (i *Instance) Crash() error { return i.proc.Crash() }

// Exit describes how the process ended.
func (i *Instance) Exit() hook.Exit {
	exit := hook.Exit(i.proc.Exit())
	i.mu.Lock()
	defer i.mu.Unlock()
	exit.Stopped = exit.Stopped || i.stopping // one that exits after Shutdown gets no signal
	if i.stopping && exit.Step == "" {
		exit.Step = "asked"
		if i.refused {
			exit.Step = "closed"
		}
	}
	return exit
}

// Reattach is what another go-plugin host needs to use this plugin, in the JSON
// that Terraform reads.
type Reattach struct {
	Protocol        string
	ProtocolVersion int
	Pid             int
	Test            bool
	Addr            struct{ Network, String string }
}

// Reattach says how another host attaches to the plugin. With [MutualTLS] no other
// host can: only this launch has the key.
func (i *Instance) Reattach() Reattach {
	line := i.evidence.Line
	r := Reattach{Protocol: string(plugin.ProtocolGRPC), ProtocolVersion: line.App, Pid: i.info.PID, Test: true}
	r.Addr.Network, r.Addr.String = line.Network, line.Address
	return r
}

// Attach is [Instance.Reattach] as JSON; nil with [MutualTLS].
func (i *Instance) Attach() json.RawMessage {
	if i.cfg.Security == MutualTLS {
		return nil
	}
	text, err := json.Marshal(i.Reattach())
	if err != nil {
		panic(err) // it has no value that cannot be marshaled
	}
	return text
}

// cleanUp releases everything when the process has exited.
func (i *Instance) cleanUp() {
	<-i.proc.Done()
	i.conn.Close()
	i.protocol.Close() // ends the broker's goroutine
	i.process.release()
	close(i.done)
}

// begin enters a call, unless the plugin takes no more. It waits for the probe after a
// call that was canceled.
func (i *Instance) begin(ctx context.Context, hookName string) *hook.Error {
	began := time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.probing > 0 {
		probed := i.probed
		i.mu.Unlock()
		select {
		case <-probed:
		case <-ctx.Done():
		}
		i.mu.Lock()
		if ctx.Err() != nil {
			return hook.Ended(ctx, hookName, "", began, false)
		}
	}
	switch {
	case i.unresponsive:
		return &hook.Error{Kind: hook.Unavailable, Hook: hookName, Err: errUnresponsive}
	case i.exited(), i.stopping:
		return &hook.Error{Kind: hook.Unavailable, Hook: hookName, Err: errExited}
	}
	i.running++
	return nil
}

// finish leaves a call. If it was canceled, the plugin may hang: no other call begins
// until it has answered a probe, which may take so long.
func (i *Instance) finish(canceled bool, silence time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running--; i.unresponsive && i.running == 0 {
		close(i.idle)
	}
	if !canceled {
		return
	}
	if i.probing++; i.probing == 1 {
		i.probed = make(chan struct{})
	}
	go func() { // ends within the limit
		i.probeAfter(silence)
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.probing--; i.probing == 0 {
			close(i.probed)
		}
	}()
}

// Busy reports whether a call is in progress.
func (i *Instance) Busy() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.running > 0
}

// isStopping reports whether Stop was called while the process ran.
func (i *Instance) isStopping() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopping
}

// exitError is the error for an exit that interrupted a call of a hook, or something
// else if there is no name: a crash, or canceled if pyplug stopped the plugin. It
// waits until the instance is done.
func (i *Instance) exitError(hookName string) *hook.Error {
	<-i.done
	exit := i.Exit()
	e := &hook.Error{Kind: hook.Crash, Hook: hookName, Exit: &exit, At: hook.StackFrames(exit.Stderr), Err: errExited}
	stopped := errStopped
	if hookName != "" {
		e.Begun, e.Err, stopped = true, errExitedInCall, errStoppedInCall
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.unresponsive:
		e.Err = errors.New("the plugin was killed because another call did not end")
	case exit.Stopped:
		e.Kind, e.Err = hook.Canceled, stopped
	}
	return e
}

// exited reports whether the process has exited.
func (i *Instance) exited() bool { return i.exitsWithin(0) }

// exitsWithin waits for the process to exit, and reports whether it did.
func (i *Instance) exitsWithin(limit time.Duration) bool {
	select {
	case <-i.proc.Done():
		return true
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-i.proc.Done():
		return true
	case <-timer.C:
		return false
	}
}

// probeAfter checks whether the plugin still responds after a call was cancelled,
// and kills it otherwise. Its silence counts only if no other call can be the
// reason: that one has a limit of its own, after which the plugin is probed again.
func (i *Instance) probeAfter(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	busy := i.Busy()
	e := asError(i.Probe(ctx))
	busy = busy || i.Busy()
	if e == nil || i.isStopping() {
		return
	}
	if e.Kind == hook.Unhealthy || e.Kind == hook.Timeout && !busy {
		i.cfg.debug("grpc", "unresponsive: "+e.Error())
		i.killUnresponsive()
	}
}

// killUnresponsive rejects new calls, gives the others 5 s and kills the plugin.
func (i *Instance) killUnresponsive() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.unresponsive {
		return
	}
	if i.unresponsive = true; i.running == 0 {
		close(i.idle)
	}
	go func() { // ends within drainLimit
		select {
		case <-i.idle:
		case <-time.After(drainLimit):
		case <-i.proc.Done():
		}
		i.proc.Kill()
	}()
}

// Stop calls the Shutdown RPC, closes the connection, and walks proc's ladder. It
// returns when the process tree is gone. See [hook.Instance].
func (i *Instance) Stop(ctx context.Context) error {
	i.stopOnce.Do(func() {
		i.mu.Lock()
		i.stopping = !i.proc.Exited()
		i.mu.Unlock()
		i.process.out.stop()
		go i.shutdown()
	})
	select {
	case <-i.asked:
	case <-ctx.Done():
	}
	i.proc.Stop(ctx, nil)
	<-i.done
	return nil
}

// shutdown calls the Shutdown RPC, waits for the exit if the plugin serves it, and
// closes the connection. It ends within shutdownLimit.
func (i *Instance) shutdown() {
	defer close(i.asked)
	defer i.conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-i.proc.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	// Both messages are empty, whatever their names.
	err := i.conn.Invoke(ctx, shutdownMethod, new(emptypb.Empty), new(emptypb.Empty))
	if err != nil && ctx.Err() == nil {
		i.cfg.debug("grpc", "shutdown: "+err.Error())
		if !lostConnection(err) { // which a fast exit causes
			i.mu.Lock()
			i.refused = true
			i.mu.Unlock()
			return
		}
	}
	<-ctx.Done()
}
