package stock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/proc"
)

// Spec says what the host starts, and how. The host's only argument is a Spec in JSON.
type Spec struct {
	// Command is the plugin's program and its arguments.
	Command []string
	// Dir is the plugin's working directory. The default is the host's.
	Dir string
	// CookieKey and CookieValue are the magic cookie.
	CookieKey, CookieValue string
	// Versions are the app versions that the host offers. The default is 1.
	Versions []int
	// MTLS enables mutual TLS with one-time certificates.
	MTLS bool
	// Ping makes the host ask for the plugin's health, as some hosts do.
	Ping bool
	// StartTimeout is go-plugin's limit for the handshake.
	StartTimeout time.Duration
	// Watch is how long the plugin must keep running while the host is idle. If it is 0, the host
	// skips the step.
	Watch time.Duration
	// Limit is the timeout of each step. It is added to StartTimeout for the start, so that
	// go-plugin can report its own timeout.
	Limit time.Duration
}

// The names of the steps, in their order.
const (
	StepStart   = "start"   // the process runs and go-plugin accepts its handshake
	StepConnect = "connect" // go-plugin makes the client and the dispensed plugin
	StepPing    = "ping"
	StepWatch   = "watch" // the host is idle
	StepStop    = "stop"  // go-plugin's Kill
)

const (
	// lookEvery is the interval at which the host checks whether the plugin has exited.
	lookEvery = 10 * time.Millisecond
	// exitTime is how long go-plugin may take to detect an exit after the connection broke.
	exitTime = 500 * time.Millisecond
)

// The host's exit codes. Go's runtime exits with 2 after a panic.
const (
	exitDone  = 0
	exitUsage = 2
)

// Main runs the host. args are the arguments that [Run] appends to Request.Host. out is the
// standard output, which Run reads. Main needs a process of its own, which then exits with the
// returned code, because it starts a process without package proc and reads the environment.
func Main(args []string, out io.Writer) int {
	h := host{out: json.NewEncoder(out)}
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &h.spec) != nil || len(h.spec.Command) == 0 {
		fmt.Fprintln(os.Stderr, "pyplug check runs this, with one argument of JSON")
		return exitUsage
	}
	h.run()
	return exitDone
}

// host runs the steps in order.
type host struct {
	spec    Spec
	cmd     *exec.Cmd // the plugin
	address net.Addr  // the plugin's address
	known   record
	gaveUp  atomic.Bool // go-plugin stopped waiting for the plugin's exit

	mu  sync.Mutex // protects out
	out *json.Encoder
}

// run runs the steps as hosts do: after a failed step it still calls Kill.
func (h *host) run() {
	client := plugin.NewClient(h.config())
	var conn plugin.ClientProtocol
	start := func() (err error) {
		h.address, err = client.Start()
		return err
	}
	connect := func() (err error) {
		if conn, err = client.Client(); err == nil {
			_, err = conn.Dispense(pluginName)
		}
		return err
	}
	ping := func() error { return conn.Ping() }
	watch := func() error {
		if exits(client, h.spec.Watch) {
			return errors.New("the plugin exited")
		}
		return nil
	}
	exited, started := false, time.Now()
	if h.step(StepStart, h.spec.StartTimeout, start) {
		h.known.Address = shorten(h.address.Network()+":"+h.address.String(), maxAddress)
		works := h.step(StepConnect, 0, connect) && (!h.spec.Ping || h.step(StepPing, 0, ping)) &&
			(h.spec.Watch == 0 || h.step(StepWatch, h.spec.Watch, watch))
		exited = !works && exits(client, exitTime)
	}
	uptime := time.Since(started)
	h.step(StepStop, 0, func() error { client.Kill(); return nil })
	if state := h.cmd.ProcessState; state != nil { // Kill has waited for the exit
		e := Exit{ByItself: exited, Uptime: uptime}
		e.Code, e.Signal = proc.StatusOf(state)
		e.Killed = !exited && h.gaveUp.Load() && (e.Signal == "SIGKILL" || runtime.GOOS == "windows")
		h.known.Exit = &e
		h.print(h.known)
	}
}

// exits reports whether the plugin exits within the given time. go-plugin detects an exit when the
// last process with the plugin's pipes has closed them.
func exits(client *plugin.Client, within time.Duration) bool {
	for end := time.Now().Add(within); !client.Exited(); time.Sleep(lookEvery) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// step runs one step and reports whether it succeeded. Its limit is longer than that of other steps
// by the given time. [Run] kills a host that exceeds the limit.
func (h *host) step(name string, longer time.Duration, do func() error) bool {
	h.known.Begun, h.known.Limit = name, h.spec.Limit+longer
	h.print(h.known)
	began := time.Now()
	err := do()
	s := Step{Name: name, Took: time.Since(began)}
	if err != nil {
		s.Err = shorten(err.Error(), maxError)
	}
	h.known.Steps = append(h.known.Steps, s)
	h.print(h.known)
	return err == nil
}

// print prints a record or a line of the log. It fails only if the parent process is gone, which
// also ends this process.
func (h *host) print(what any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.out.Encode(what)
}

func (h *host) config() *plugin.ClientConfig {
	h.cmd = exec.Command(h.spec.Command[0], h.spec.Command[1:]...)
	h.cmd.Dir = h.spec.Dir
	set, versions := plugin.PluginSet{pluginName: &service{}}, map[int]plugin.PluginSet{}
	for _, v := range h.spec.Versions {
		versions[v] = set
	}
	if len(versions) == 0 {
		versions[1] = set
	}
	return &plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: h.spec.CookieKey, MagicCookieValue: h.spec.CookieValue,
		},
		VersionedPlugins: versions,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Cmd:              h.cmd,
		AutoMTLS:         h.spec.MTLS,
		StartTimeout:     h.spec.StartTimeout,
		Logger:           h.logger(filepath.Base(h.cmd.Path)),
		Stderr:           &proc.LineWriter{Emit: h.log},
		GRPCDialOptions:  []grpc.DialOption{grpc.WithContextDialer(h.dial)},
	}
}

// dial connects as go-plugin does, but only to a server in the plugin's own process.
func (h *host) dial(ctx context.Context, _ string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, h.address.Network(), h.address.String())
	if err != nil {
		return nil, err
	}
	if err := grpcplugin.CheckPeer(ctx, conn, h.cmd.Process.Pid); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// logger returns the logger for go-plugin's warnings. It drops go-plugin's log of the
// plugin's standard error, which the host prints itself, without decoration.
func (h *host) logger(program string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "plugin", Level: hclog.Warn, DisableTime: true, Output: &proc.LineWriter{Emit: h.logOwn},
		SubloggerHook: func(sub hclog.Logger) hclog.Logger {
			if sub.Name() == "plugin."+program {
				return hclog.NewNullLogger()
			}
			return sub
		},
	})
}

// logOwn prints a line of go-plugin's own log. Only this log says that go-plugin kills the plugin.
func (h *host) logOwn(line string, cut int) {
	if strings.HasSuffix(line, "plugin failed to exit gracefully") {
		h.gaveUp.Store(true)
	}
	h.log(line, cut)
}

func (h *host) log(line string, _ int) {
	if strings.TrimSpace(line) != "" {
		h.print(shorten(line, maxLine))
	}
}

// pluginName is the name of the one plugin that this host dispenses. Its client makes no calls,
// because every plugin serves something else.
const pluginName = "plugin"

type service struct{ plugin.NetRPCUnsupportedPlugin }

func (*service) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.ErrUnsupported
}

func (*service) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// A record is one line, and proc keeps 16 KiB of a line. These lengths fit even if JSON expands
// each byte to six, as it does for control characters.
const (
	maxError   = 2400
	maxAddress = 200
	maxLine    = 1 << 10
)

// shorten cuts a long text that the plugin printed.
func shorten(text string, most int) string { return text[:min(len(text), most)] }
