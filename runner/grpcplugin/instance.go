package grpcplugin

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
)

// drainLimit is how long the other calls of a condemned plugin may go on.
const drainLimit = 5 * time.Second

// Evidence is what was seen of a plugin while it started.
type Evidence struct {
	// Text is the handshake as it was printed, Line what it says; the latter is
	// empty when it was refused.
	Text string
	Line handshake.Line
	// Noise are the first lines that stood before it, NoiseLines how many
	// there were. pyplug puts up with them; other hosts refuse the plugin.
	Noise      []Noise
	NoiseLines int
	// NoHealth tells that the plugin serves no health, which is put up with.
	NoHealth bool
	// Service is the name that health was asked for.
	Service string
	// Unhealthy is what its health service said other than SERVING, or that it
	// did not answer, which [Config.AnyHealth] puts up with.
	Unhealthy *hook.Error
	// Handshake, Connect and Health are how long each of these took, 0 when it
	// did not come to that.
	Handshake, Connect, Health time.Duration
}

// Instance is one gRPC plugin.
type Instance struct {
	cfg      *Config
	process  *process
	conn     *grpc.ClientConn
	protocol plugin.ClientProtocol
	dir      string // for the plugin's sockets
	evidence Evidence
	info     hook.Info
	methods  described

	begun    sync.Once     // guards the one farewell
	farewell chan struct{} // closed when the plugin was asked to go, or could not be
	done     chan struct{}

	mu        sync.Mutex // protects following
	running   int        // calls under way
	stopping  bool
	asking    bool // by the Shutdown RPC, which the plugin has not refused
	condemned bool
	idle      chan struct{} // closed when a condemned plugin has no call left
}

var _ hook.Instance = (*Instance)(nil)

// Concurrency is as many calls as a server takes; one with fewer threads queues
// them.
func (i *Instance) Concurrency() int { return many }

// Done is closed when the process and all that it started are gone.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Info is which process it is. What Python it runs is not told by the protocol.
func (i *Instance) Info() hook.Info { return i.info }

// Evidence is what was seen while it started.
func (i *Instance) Evidence() Evidence { return i.evidence }

// Exit is how the process ended.
func (i *Instance) Exit() hook.Exit {
	exit := hook.Exit(i.process.proc.Exit())
	i.mu.Lock()
	defer i.mu.Unlock()
	// A plugin that goes when it is asked has seen no signal.
	exit.Stopped = exit.Stopped || i.stopping
	switch {
	case exit.Step != "" || !i.stopping:
	case i.asking:
		exit.Step = "asked"
	default:
		exit.Step = "closed"
	}
	return exit
}

// Crash ends the process as something outside of pyplug would.
// [os.ErrProcessDone] when it is gone.
func (i *Instance) Crash() error { return i.process.proc.Crash() }

// Reattach is what another go-plugin host needs to use this plugin, in the JSON
// that Terraform reads.
type Reattach struct {
	Protocol        string
	ProtocolVersion int
	Pid             int
	Test            bool
	Addr            struct{ Network, String string }
}

// Reattach says how another host attaches to the plugin. It must not be used
// with [MutualTLS], whose key is ours alone.
func (i *Instance) Reattach() Reattach {
	r := Reattach{
		Protocol: string(plugin.ProtocolGRPC), ProtocolVersion: i.evidence.Line.App, Pid: i.info.PID, Test: true,
	}
	r.Addr.Network, r.Addr.String = i.evidence.Line.Network, i.evidence.Line.Address
	return r
}

// attend puts everything away when the process is gone. It ends then.
func (i *Instance) attend() {
	<-i.process.proc.Done()
	i.process.foretold.cancel()
	i.conn.Close()
	i.protocol.Close() // the broker's goroutine; the connection is closed already
	i.process.out.end()
	os.RemoveAll(i.dir)
	close(i.done)
}

// begin enters a call.
func (i *Instance) begin() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.condemned:
		return errCondemned
	case i.gone(), i.stopping:
		return errEnded
	}
	i.running++
	return nil
}

// finish leaves a call.
func (i *Instance) finish() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running--; i.condemned && i.running == 0 {
		closeOnce(i.idle)
	}
}

// Busy tells whether a call is under way.
func (i *Instance) Busy() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.running > 0
}

// asked tells whether the plugin was asked to go.
func (i *Instance) asked() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopping
}

// gone tells whether the process is gone.
func (i *Instance) gone() bool {
	select {
	case <-i.process.proc.Done():
		return true
	default:
		return false
	}
}

// Probe asks the health service. A plugin that has none is alive when it says
// so. That it does not answer, kind Timeout, need not mean that it hangs while it
// is [Instance.Busy]: a server with one thread answers when it has done the call.
func (i *Instance) Probe(ctx context.Context) error {
	ctx, cancel := bounded(ctx, probeLimit)
	defer cancel()
	began := time.Now()
	if herr := i.verdict(ctx, ask(ctx, i.conn, i.cfg.Service), began); herr != nil {
		return herr
	}
	return nil
}

// Watch follows the health service: tell gets the name of each status that the
// plugin tells. It ends with an [*hook.Error]: Canceled when ctx ends or tell
// returns an error, and when the plugin is stopped; Crash when it ended by
// itself; Unhealthy with a [*NoHealthError] when health is not served.
func (i *Instance) Watch(ctx context.Context, tell func(status string) error) error {
	began := time.Now()
	err := watch(ctx, i.conn, i.cfg.Service, tell)
	if none := (*NoHealthError)(nil); errors.As(err, &none) {
		return &hook.Error{Kind: hook.Unhealthy, Err: err}
	}
	if herr := i.verdict(ctx, err, began); herr != nil {
		return herr
	}
	return nil
}

// verdict is what an answer of the health service means for this instance. A
// broken connection is a crash when the process turns out to be gone and was not
// asked to go.
func (i *Instance) verdict(ctx context.Context, err error, began time.Time) *hook.Error {
	if none := (*NoHealthError)(nil); err == nil || errors.As(err, &none) {
		return nil
	}
	herr := unhealthy(ctx, err, began)
	if herr.Status != nil && i.diedWithin(lostLimit) {
		<-i.done // attend closes it now: who is told of a crash finds the instance gone
		exit := i.Exit()
		if i.asked() {
			return &hook.Error{Kind: hook.Canceled, Exit: &exit, Err: errAsked}
		}
		return &hook.Error{Kind: hook.Crash, Exit: &exit, Err: errEnded}
	}
	return herr
}

// afterInterrupt sees whether the plugin still answers after a call was given
// up, which no longer counts as under way, and condemns it otherwise: but for its
// silence only when no other call can be the reason, which has a limit of its own
// and is followed by the same. It ends within the limit.
func (i *Instance) afterInterrupt(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	busy := i.Busy()
	err := i.Probe(ctx)
	busy = busy || i.Busy()
	var herr *hook.Error
	dead := errors.As(err, &herr) && (herr.Kind == hook.Timeout && !busy || herr.Kind == hook.Unhealthy)
	if dead && !i.asked() { // one that was asked to go is on its way
		i.cfg.debug("grpc", "condemned: "+herr.Error())
		i.condemn()
	}
}

// condemn lets no new call begin, gives the others 5 s and kills the plugin.
func (i *Instance) condemn() {
	i.mu.Lock()
	first := !i.condemned
	i.condemned = true
	if i.running == 0 {
		closeOnce(i.idle)
	}
	i.mu.Unlock()
	if !first {
		return
	}
	go func() { // ends by itself within drainLimit
		limit := time.NewTimer(drainLimit)
		defer limit.Stop()
		select {
		case <-i.idle:
		case <-limit.C:
		case <-i.process.proc.Done():
		}
		i.process.proc.Kill()
	}()
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// diedWithin waits for the process's end, and tells whether it came.
func (i *Instance) diedWithin(d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-i.process.proc.Done():
		return true
	case <-limit.C:
		return false
	}
}
