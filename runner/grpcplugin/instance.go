package grpcplugin

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

const (
	// exitLimit is how long a process may take to exit after its connection broke.
	exitLimit = 2 * time.Second
	// shutdownLimit is how long a process may take to exit after the answer to Shutdown, as in
	// go-plugin. go-plugin ignores the content of the answer.
	shutdownLimit = 2 * time.Second

	shutdownMethod = "/plugin.GRPCController/Shutdown"
)

// Instance is one gRPC plugin.
type Instance struct {
	cfg      *Config
	dir      string // the directory for the plugin's sockets
	out      *output
	sources  func() ([]protoschema.Source, error) // calls Config.Sources once; may be nil
	proc     *proc.Process
	tls      *tls.Config      // nil without TLS
	conn     *grpc.ClientConn // nil until connected
	protocol plugin.ClientProtocol
	evidence Evidence
	info     hook.Info
	broker   broker
	done     chan struct{} // closed when all processes of the plugin are gone

	describing chan struct{} // held by the goroutine that sets methods
	methods    *protoschema.Descriptors

	stopping    atomic.Bool                   // Stop was called while the process ran
	shutdownErr atomic.Pointer[status.Status] // the error that Shutdown answered
}

var _ hook.Instance = (*Instance)(nil)

func newInstance(cfg *Config) *Instance {
	return &Instance{
		cfg: cfg, out: &output{print: cfg.Output}, evidence: Evidence{Service: cfg.Service},
		done: make(chan struct{}), describing: make(chan struct{}, 1),
	}
}

// Concurrency returns the number of streams that HTTP/2 servers accept by default. A server
// with fewer threads queues calls.
func (i *Instance) Concurrency() int { return 100 }

// Done is closed when the process and everything that it started are gone.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Info describes the process. The version of its Python is unknown, because the protocol does not
// contain it.
func (i *Instance) Info() hook.Info { return i.info }

// Exit describes how the process ended.
func (i *Instance) Exit() hook.Exit { return hook.Exit(i.proc.Exit()) }

// Exited reports whether the process has exited. Done is closed later, when everything that it
// started is gone, too.
func (i *Instance) Exited() bool { return i.proc.Exited() }

// Stack returns nil: a server does not print its stacks.
func (i *Instance) Stack() []hook.Frame { return nil }

// Crash kills the process from outside, as in a real crash. It returns [os.ErrProcessDone] if the
// process has exited.
func (i *Instance) Crash() error { return i.proc.Crash() }

// CallSeries makes no calls, because gRPC has no series.
func (i *Instance) CallSeries(context.Context, *hook.Series) {}

// Attach returns the JSON with which another host of go-plugin can attach to the plugin, in
// Terraform's form. It returns nil with mutual TLS, because only this launch has the key.
func (i *Instance) Attach() json.RawMessage {
	if i.cfg.MTLS {
		return nil
	}
	line := i.evidence.Line
	type address struct{ Network, String string }
	text, _ := json.Marshal(struct { // this type can always be encoded
		Protocol        string
		ProtocolVersion int
		Pid             int
		Test            bool
		Addr            address
	}{string(plugin.ProtocolGRPC), line.App, i.info.PID, true, address{line.Network, line.Address}})
	return text
}

// release releases the instance's resources. Its process must have exited.
func (i *Instance) release() {
	i.disconnect()
	i.broker.close()
	i.out.end()
	os.RemoveAll(i.dir)
}

// disconnect closes the connection, if there is one.
func (i *Instance) disconnect() {
	if i.conn != nil {
		i.conn.Close()     // first, so that go-plugin cannot call Shutdown
		i.protocol.Close() // ends the goroutine of go-plugin's broker
	}
}

var errExited = errors.New("the plugin has exited")

// exitError returns the error for an exit of the process: a crash, or canceled if pyplug stopped
// the plugin. hookName is empty if the exit interrupted no call. exitError waits until the instance
// is done.
func (i *Instance) exitError(hookName string) *hook.Error {
	<-i.done
	exit := i.Exit()
	e := &hook.Error{Kind: hook.Crash, Hook: hookName, Exit: &exit, At: hook.StackFrames(exit.Stderr), Err: errExited}
	during := ""
	if hookName != "" {
		e.Begun, e.Err, during = true, errors.New("the plugin exited during the call"), " during the call"
	}
	if exit.Stopped {
		e.Kind, e.Err = hook.Canceled, errors.New("the plugin was stopped"+during)
	}
	return e
}

// exits reports whether the process exits within [exitLimit].
func (i *Instance) exits() bool { return hook.Within(i.proc.Done(), exitLimit) }

// Stop calls the Shutdown RPC, closes the connection, and walks proc's ladder. It returns when the
// process tree is gone. See [hook.Instance].
func (i *Instance) Stop(ctx context.Context) error {
	i.stopping.Store(!i.Exited())
	i.out.stop()
	i.proc.Stop(ctx, i.shutdown)
	<-i.done
	return nil
}

// shutdown calls the Shutdown RPC, closes the connection, because a server may wait for that, and
// waits for the exit. It always returns false, so that proc sends a signal next. If the plugin does
// not serve the RPC, shutdown does not wait for the exit.
func (i *Instance) shutdown(ctx context.Context) bool {
	// Both messages are empty, whatever their names.
	err := i.conn.Invoke(ctx, shutdownMethod, new(emptypb.Empty), new(emptypb.Empty))
	i.conn.Close()
	if err != nil && ctx.Err() == nil && !lostConnection(err) { // a fast exit only breaks the connection
		i.cfg.Debug("grpc", "shutdown: "+err.Error())
		i.shutdownErr.Store(status.Convert(err))
		if isUnimplemented(err) {
			return false
		}
	}
	limit := shutdownLimit
	if !proc.HasSignals { // no other step of the ladder follows
		limit = i.cfg.StopTimeout
	}
	hook.Within(ctx.Done(), limit)
	return false
}

// LacksController reports whether the plugin lacks the Shutdown RPC. It is valid after Stop.
func (i *Instance) LacksController() bool { return isUnimplemented(i.shutdownErr.Load().Err()) }

// ShutdownError returns the error that the Shutdown RPC answered, or nil. It is valid after
// Stop.
func (i *Instance) ShutdownError() error {
	if s := i.shutdownErr.Load(); s != nil {
		return statusError(s)
	}
	return nil
}
