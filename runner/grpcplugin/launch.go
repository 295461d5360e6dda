package grpcplugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

const (
	stdioService  = "/plugin.GRPCStdio/"
	brokerService = "/plugin.GRPCBroker/"
)

// launch is one launch as it goes on.
type launch struct {
	cfg     *Config
	ctx     context.Context
	process *process
	link    *link
	client  *plugin.Client
	config  *plugin.ClientConfig
	dir     string
	secure  *tls.Config // nil: no TLS
	seen    Evidence
}

// Launch starts one plugin and returns it when its health service says that it
// is serving. See [hook.Launcher] for the promises; the instance is an
// [*Instance].
func (l *Launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if ctx.Err() != nil {
		return nil, hook.Ended(ctx, "", "no start", time.Now(), false)
	}
	n := &launch{cfg: &l.cfg, ctx: ctx}
	if err := n.prepare(); err != nil {
		n.clean()
		return nil, &hook.Error{Kind: hook.Internal, Err: err}
	}
	i, herr := n.start()
	if l.cfg.Seen != nil {
		l.cfg.Seen(n.seen)
	}
	if herr != nil {
		n.clean()
		return nil, herr
	}
	go i.attend() // ends with the process
	return i, nil
}

// clean ends what a failed launch has left.
func (n *launch) clean() {
	if n.process != nil && n.process.proc != nil {
		n.process.foretold.cancel()
		n.process.proc.Kill()
		n.process.out.end()
	}
	if n.dir != "" {
		os.RemoveAll(n.dir)
	}
}

// prepare makes all that the start needs.
func (n *launch) prepare() error {
	parent, err := n.socketParent()
	if err == nil {
		n.dir, err = os.MkdirTemp(parent, "s")
	}
	if err != nil {
		return fmt.Errorf("directory for sockets: %w", err)
	}
	var certificate []byte
	if n.cfg.Security == MutualTLS {
		if n.secure, certificate, err = oneTime(n.cfg.Curve); err != nil {
			return err
		}
	}
	env := n.environment(certificate)
	n.process = &process{
		cfg: n.cfg, ctx: n.ctx,
		out: &output{tell: n.cfg.Output},
		spec: proc.Spec{
			Path: n.cfg.Path, Args: n.cfg.Args, Env: env, Dir: n.cfg.Dir, Grace: n.cfg.StopTimeout,
			Limits: n.cfg.Limits,
		},
		want: handshake.Want{
			Versions: n.cfg.Versions, TLS: n.secure != nil, Dirs: n.socketDirs(env),
		},
	}
	n.config = n.clientConfig()
	runBy(&n.config.RunnerFunc, n.process)
	n.client = plugin.NewClient(n.config)
	return nil
}

// socketParent is where the directory for sockets is made. The path of a socket may
// have about a hundred bytes: beside that of the parent it needs 12 for the
// directory, and 41 for the slash and the name that the plugin chooses.
func (n *launch) socketParent() (string, error) {
	parent, err := proc.ShortTempDir(handshake.MaxSocket() - 12 - 41)
	if err != nil && n.cfg.Python { // most of those serve on tcp
		return proc.TempDir()
	}
	return parent, err
}

// environment is the plugin's, with what a host sets.
func (n *launch) environment(certificate []byte) []string {
	base := n.cfg.Env
	if base == nil {
		base = proc.Environ(os.Environ(), false, nil)
	}
	set := hostEnv(n.cfg, n.dir, certificate)
	if n.cfg.Python {
		set = append(set, "PYTHONUNBUFFERED=1", "PYTHONFAULTHANDLER=1")
	}
	return proc.Environ(withoutHost(base), false, set)
}

// socketDirs are where a plugin may have its socket: the directory it is given,
// and, for servers that do not know of that, where temporary files go.
func (n *launch) socketDirs(env []string) []string {
	dirs := []string{n.dir}
	temp := os.TempDir()
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "TMPDIR="); ok && filepath.IsAbs(dir) {
			temp = dir
		}
	}
	return append(dirs, temp)
}

// clientConfig is how go-plugin is set up.
func (n *launch) clientConfig() *plugin.ClientConfig {
	versions := make(map[int]plugin.PluginSet, len(n.cfg.Versions))
	for _, v := range n.cfg.Versions {
		versions[v] = plugin.PluginSet{}
	}
	return &plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: n.cfg.CookieKey, MagicCookieValue: n.cfg.CookieValue},
		VersionedPlugins: versions,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     n.cfg.StartTimeout + time.Minute, // ours ends first
		SkipHostEnv:      true,
		TLSConfig:        n.secure,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: n.dir},
		Logger:           logger(n.cfg),
		Stderr:           io.Discard,
		SyncStdout:       &copier{out: n.process.out, stream: proc.Stdout.String()},
		SyncStderr:       &copier{out: n.process.out, stream: proc.Stderr.String()},
		GRPCDialOptions:  n.dialOptions(),
	}
}

// runBy has go-plugin use a runner. The command that it offers, whose type is
// C, is not used: processes are started by proc alone.
func runBy[C any](field *func(hclog.Logger, C, string) (runner.Runner, error), r runner.Runner) {
	*field = func(hclog.Logger, C, string) (runner.Runner, error) { return r, nil }
}

// dialOptions are ours for go-plugin's connection. The address is not known
// yet; link has it when the first attempt is made.
func (n *launch) dialOptions() []grpc.DialOption {
	n.link = &link{limit: n.cfg.ConnectTimeout, patience: earlyLimit}
	return append(n.link.options(),
		grpc.WithStreamInterceptor(n.intercept),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(n.cfg.mostOwn())),
	)
}

// intercept refuses the streams that go-plugin opens for itself on a Python
// plugin: with one thread, either would keep it from all else. On others the
// first of them waits for the connection, within our limit and not gRPC's.
func (n *launch) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stdio := strings.HasPrefix(method, stdioService)
	switch {
	case ctx.Value(askingKey{}) != nil: // the answer has to be the plugin's
		return streamer(ctx, desc, cc, method, opts...)
	case n.cfg.Python && (stdio || strings.HasPrefix(method, brokerService)):
		return nil, status.Error(codes.Unimplemented, "not opened on a python plugin")
	case stdio:
		if err := n.link.connect(n.ctx, cc); err != nil {
			return nil, status.Error(codes.Unavailable, err.Error())
		}
	}
	stream, err := streamer(ctx, desc, cc, method, opts...)
	if err != nil && stdio {
		// Any other code would make go-plugin leave the connection open.
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	return stream, err
}

// start takes the launch from the process to a healthy instance.
func (n *launch) start() (*Instance, *hook.Error) {
	began := time.Now()
	_, err := n.client.Start()
	n.look(time.Since(began))
	if err != nil {
		if own := (*hook.Error)(nil); errors.As(err, &own) {
			return nil, own
		}
		return nil, &hook.Error{Kind: hook.Handshake, Err: fmt.Errorf("go-plugin: %w", err)}
	}
	p := n.process.proc
	line := n.seen.Line
	n.link.network, n.link.address, n.link.gone = line.Network, line.Address, p.Done()
	n.link.allow = func() error {
		select {
		case <-p.Done():
			return errEnded
		default:
			return checkOwner(p.PID(), line.Network, line.Address)
		}
	}
	// Only now does the configuration hold the plugin's certificate.
	n.config.GRPCDialOptions = append(n.config.GRPCDialOptions,
		grpc.WithTransportCredentials(n.link.credentials(n.secure)))
	protocol, err := n.client.Client()
	if err != nil {
		return nil, n.broken(fmt.Errorf("go-plugin: %w", err))
	}
	i := &Instance{
		cfg: n.cfg, process: n.process, protocol: protocol, conn: protocol.(*plugin.GRPCClient).Conn,
		dir: n.dir, methods: newDescribed(),
		farewell: make(chan struct{}), done: make(chan struct{}), idle: make(chan struct{}),
	}
	herr := n.prove(i)
	if i.evidence = n.seen; herr != nil {
		i.conn.Close()
		protocol.Close()
		if herr.Kind == hook.Unhealthy {
			n.process.out.stop()
			p.Stop(n.ctx, nil) // it works as it should, and may tidy up
		}
		return nil, herr // the rest is for clean
	}
	i.info = hook.Info{PID: p.PID(), Started: p.Started(), Ready: time.Since(began)}
	n.cfg.debug("grpc", fmt.Sprintf("ready after %s", i.info.Ready))
	return i, nil
}

// look takes down what was printed until now.
func (n *launch) look(took time.Duration) {
	n.seen.Text, n.seen.Line, n.seen.Service = n.process.text, n.process.line, n.cfg.Service
	if n.process.intake != nil {
		n.seen.Noise, n.seen.NoiseLines = n.process.intake.before()
	}
	if n.seen.Text != "" {
		n.seen.Handshake = took
	}
}

// prove connects and asks for health, each within the limit.
func (n *launch) prove(i *Instance) *hook.Error {
	began := time.Now()
	err := n.link.connect(n.ctx, i.conn)
	if n.seen.Connect = time.Since(began); err != nil {
		return n.broken(err)
	}
	began = time.Now()
	ctx, cancel := context.WithTimeout(n.ctx, n.cfg.HealthTimeout)
	defer cancel()
	err = ask(ctx, i.conn, n.cfg.Service)
	n.seen.Health = time.Since(began)
	var none *NoHealthError
	if n.seen.NoHealth = errors.As(err, &none); err == nil || n.seen.NoHealth {
		return nil
	}
	herr := unhealthy(n.ctx, err, began)
	switch {
	case n.ctx.Err() == nil && ctx.Err() != nil:
		herr = &hook.Error{Kind: hook.Unhealthy,
			Err: &hook.LimitError{What: "no answer of the health service", Limit: n.cfg.HealthTimeout}}
	case herr.Status != nil && i.diedWithin(lostLimit):
		return n.process.ended(errors.New("the plugin ended before it was ready"))
	}
	if n.cfg.AnyHealth && herr.Kind == hook.Unhealthy {
		n.seen.Unhealthy = herr
		return nil
	}
	return herr
}

// broken tells why there is no connection. A process that is gone is the better
// reason.
func (n *launch) broken(err error) *hook.Error {
	if n.ctx.Err() != nil {
		return hook.Ended(n.ctx, "", "no connection", n.process.proc.Started(), false)
	}
	select {
	case <-n.process.proc.Done():
		return n.process.ended(errors.New("the plugin ended before it was ready"))
	default:
		return &hook.Error{Kind: hook.Handshake, Err: err}
	}
}

// logger passes on what go-plugin logs, when somebody wants to know.
func logger(cfg *Config) hclog.Logger {
	if cfg.Debug == nil {
		return hclog.NewNullLogger()
	}
	return hclog.New(&hclog.LoggerOptions{
		Level: hclog.Trace, DisableTime: true, Output: debugWriter{cfg},
	})
}

// debugWriter makes a developer's lines of a log.
type debugWriter struct{ cfg *Config }

func (w debugWriter) Write(b []byte) (int, error) {
	w.cfg.debug("go-plugin", strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}
