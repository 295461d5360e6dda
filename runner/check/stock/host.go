package stock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Spec says what the host starts, and as what. The zero value names no program.
type Spec struct {
	// Command is the plugin's program and its arguments.
	Command []string
	// Dir is the plugin's working directory; "" is the host's.
	Dir string
	// CookieKey and CookieValue are the magic cookie.
	CookieKey, CookieValue string
	// Versions are the app versions that the host speaks; none means 1.
	Versions []int
	// MTLS asks for mutual TLS with certificates made for this once.
	MTLS bool
	// StartTimeout is how long go-plugin waits for the handshake; 0 leaves that
	// to it, which is a minute.
	StartTimeout time.Duration
}

// The names of the steps.
const (
	StepStart   = "start"   // the process runs and its handshake is accepted
	StepConnect = "connect" // client and dispensed plugin, as go-plugin makes them
	StepPing    = "ping"
	StepStop    = "stop" // go-plugin's Kill
)

// The host's exit codes; Go's runtime has 2 for a panic.
const (
	exitDone  = 0
	exitHung  = 1
	exitUsage = 2
)

// order is what the host is to do. It is its one argument.
type order struct {
	Spec  Spec
	Limit time.Duration
	// After is a file that is to be there before the first step; "": none.
	After string
}

// await waits for it, an hour at most; the host dies before if its parent does.
func (o order) await() {
	for end := time.Now().Add(time.Hour); o.After != "" && time.Now().Before(end); {
		if _, err := os.Stat(o.After); err == nil {
			return
		}
		time.Sleep(500 * time.Microsecond)
	}
}

// limit is how long a step may take. That of the start is go-plugin's own and
// then ours, since the words of a timeout are go-plugin's to say.
func (o order) limit(step string) time.Duration {
	if step != StepStart {
		return o.Limit
	}
	if o.Spec.StartTimeout == 0 {
		return time.Minute + o.Limit
	}
	return o.Spec.StartTimeout + o.Limit
}

// record is one line that the host says. One field is set.
type record struct {
	Begins  string `json:",omitempty"`
	Address string `json:",omitempty"`
	Ended   *Step  `json:",omitempty"`
	Hangs   string `json:",omitempty"`
	Log     string `json:",omitempty"`
}

// Main is the host. Its args are those by which [Run] has extended
// Request.Host, and out is where Run reads, the standard output. It returns the
// exit code, and the process is to exit with it at once: what hangs is still
// there. It starts a process and reads the environment, so it is not for a
// process that does anything else.
func Main(args []string, out io.Writer) int {
	h := host{out: json.NewEncoder(out)}
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &h.order) != nil || len(h.Spec.Command) == 0 {
		fmt.Fprintln(os.Stderr, "this is for pyplug check to call, with one argument of JSON")
		return exitUsage
	}
	return h.run()
}

// host does the steps, one after the other.
type host struct {
	order
	hung bool

	mu  sync.Mutex // of out
	out *json.Encoder
}

// run goes through the steps as hosts do: whatever fails, Kill comes last.
func (h *host) run() int {
	h.await()
	client := plugin.NewClient(h.config())
	var conn plugin.ClientProtocol
	start := func() error {
		address, err := client.Start()
		if err == nil {
			h.say(record{Address: shorten(address.Network() + ":" + address.String())})
		}
		return err
	}
	connect := func() (err error) {
		if conn, err = client.Client(); err == nil {
			_, err = conn.Dispense(anything)
		}
		return err
	}
	if h.step(StepStart, start) && h.step(StepConnect, connect) {
		h.step(StepPing, func() error { return conn.Ping() })
	}
	if !h.hung {
		h.step(StepStop, func() error { client.Kill(); return nil })
	}
	if h.hung {
		return exitHung
	}
	return exitDone
}

// step does one step within its limit and says so, and tells whether it went
// well. The goroutine of one that hangs ends with the process.
func (h *host) step(name string, do func() error) bool {
	h.say(record{Begins: name})
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		s := Step{Name: name, Took: time.Since(began)}
		if err != nil {
			s.Err = shorten(err.Error())
		}
		h.say(record{Ended: &s})
		return err == nil
	case <-time.After(h.limit(name)):
		h.hung = true
		h.say(record{Hangs: name})
		return false
	}
}

// say tells the parent. One that is gone hears nothing, and we go with it.
func (h *host) say(r record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.out.Encode(r)
}

func (h *host) config() *plugin.ClientConfig {
	cmd := exec.Command(h.Spec.Command[0], h.Spec.Command[1:]...)
	cmd.Dir = h.Spec.Dir
	versions := map[int]plugin.PluginSet{}
	for _, v := range h.Spec.Versions {
		versions[v] = plugin.PluginSet{anything: &service{}}
	}
	if len(versions) == 0 {
		versions[1] = plugin.PluginSet{anything: &service{}}
	}
	return &plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: h.Spec.CookieKey, MagicCookieValue: h.Spec.CookieValue,
		},
		VersionedPlugins: versions,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Cmd:              cmd,
		AutoMTLS:         h.Spec.MTLS,
		StartTimeout:     h.Spec.StartTimeout,
		Logger:           h.logger(filepath.Base(cmd.Path)),
		Stderr:           &lines{emit: h.log},
	}
}

// logger tells what go-plugin warns of. The plugin's standard error, which
// go-plugin logs under the program's name, comes to us as it is.
func (h *host) logger(program string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "plugin", Level: hclog.Warn, DisableTime: true, Output: &lines{emit: h.log},
		SubloggerHook: func(sub hclog.Logger) hclog.Logger {
			if sub.Name() == "plugin."+program {
				return hclog.NewNullLogger()
			}
			return sub
		},
	})
}

func (h *host) log(line string) { h.say(record{Log: line}) }

// anything is the name of the one plugin that this host dispenses: a client that
// calls nothing, since what a plugin serves is its own.
const anything = "plugin"

type service struct{ plugin.NetRPCUnsupportedPlugin }

func (*service) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.ErrUnsupported
}

func (*service) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// A record is one line, of which proc keeps 16 KiB: room for these even where
// each byte becomes six, as JSON has control characters.
const (
	maxError = 2400
	maxLine  = 1 << 10
)

// shorten leaves out the middle of a text that is too long to be told, which is
// what the plugin printed: go-plugin's own words are at both ends.
func shorten(text string) string {
	left := len(text) - maxError
	if left <= 0 {
		return text
	}
	half := maxError / 2
	return fmt.Sprintf("%s[%d bytes left out]%s", text[:half], left, text[len(text)-half:])
}

// lines emits what is written to it line by line, without blank lines and
// without what is longer than maxLine. It belongs to one goroutine at a time.
type lines struct {
	kept []byte
	emit func(string)
}

// Write never fails.
func (l *lines) Write(b []byte) (int, error) {
	for rest, ended := b, true; ended; {
		var line []byte
		line, rest, ended = bytes.Cut(rest, []byte{'\n'})
		l.kept = append(l.kept, line[:min(len(line), maxLine-len(l.kept))]...)
		if ended && len(bytes.TrimSpace(l.kept)) > 0 {
			l.emit(string(bytes.TrimRight(l.kept, "\r")))
		}
		if ended {
			l.kept = l.kept[:0]
		}
	}
	return len(b), nil
}
