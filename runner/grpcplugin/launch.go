package grpcplugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

	// retryLimit is how long to retry the connection to a plugin that printed its
	// handshake before it listens.
	retryLimit = time.Second
)

// launch is a launch in progress.
type launch struct {
	cfg     *Config
	ctx     context.Context
	process *process
	config  *plugin.ClientConfig
	tls     *tls.Config // nil: no TLS
	seen    Evidence
}

// Launch starts one plugin and returns it when its health service answers SERVING.
// See [hook.Launcher] for the promises; the instance is an [*Instance].
func (l *Launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if ctx.Err() != nil {
		return nil, hook.Ended(ctx, "", "no start", time.Now(), false)
	}
	n := &launch{cfg: &l.cfg, ctx: ctx, process: &process{cfg: &l.cfg, ctx: ctx, out: &output{print: l.cfg.Output}}}
	i, herr := n.run()
	if l.cfg.Observe != nil {
		l.cfg.Observe(n.seen)
	}
	if herr != nil {
		if n.process.proc != nil {
			n.process.proc.Kill()
		}
		n.process.release()
		return nil, l.explain(herr)
	}
	go i.cleanUp() // ends with the process
	if herr := l.register(ctx, i); herr != nil {
		return nil, herr
	}
	return i, nil
}

// run takes the launch from nothing to a healthy instance.
func (n *launch) run() (*Instance, *hook.Error) {
	if err := n.prepare(); err != nil {
		return nil, &hook.Error{Kind: hook.Internal, Err: err}
	}
	client := plugin.NewClient(n.config)
	began := time.Now()
	_, err := client.Start()
	p := n.process
	n.seen.Text, n.seen.Line, n.seen.Service = p.text, p.line, n.cfg.Service
	n.seen.Noise, n.seen.NoiseLines = p.scanner.before()
	if p.text != "" {
		n.seen.Handshake = time.Since(began)
	}
	if own := asError(err); own != nil {
		return nil, own
	}
	if err != nil {
		return nil, &hook.Error{Kind: hook.Handshake, Err: fmt.Errorf("go-plugin: %w", err)}
	}
	i, herr := n.connect(client)
	if herr != nil {
		return nil, herr
	}
	herr = n.checkHealth(i)
	if i.evidence = n.seen; herr != nil {
		i.conn.Close()
		i.protocol.Close()
		if herr.Kind == hook.Unhealthy {
			p.out.stop()
			p.proc.Stop(n.ctx, nil) // it works, and may clean up
		}
		return nil, herr
	}
	i.info = hook.Info{PID: p.proc.PID(), Started: p.proc.Started(), Ready: time.Since(began)}
	n.cfg.debug("grpc", fmt.Sprintf("ready after %s", i.info.Ready))
	return i, nil
}

// prepare sets up the process and go-plugin's client.
func (n *launch) prepare() error {
	parent, err := n.socketParent()
	p := n.process
	if err == nil {
		p.dir, err = os.MkdirTemp(parent, "s")
	}
	if err != nil {
		return fmt.Errorf("directory for sockets: %w", err)
	}
	var certificate []byte
	if n.cfg.Security == MutualTLS {
		if n.tls, certificate, err = newCertificate(n.cfg.Curve); err != nil {
			return err
		}
	}
	env := n.environment(certificate)
	p.scanner = newScanner(p.out)
	p.spec = proc.Spec{
		Path: n.cfg.Path, Args: n.cfg.Args, Env: env, Dir: n.cfg.Dir, Grace: n.cfg.StopTimeout,
		Limits: n.cfg.Limits, OnLine: p.scanner.scan,
	}
	p.want = handshake.Want{Versions: n.cfg.Versions, TLS: n.tls != nil, Dirs: n.socketDirs(env)}
	n.config = n.clientConfig()
	runBy(&n.config.RunnerFunc, p)
	return nil
}

// socketParent is where the directory for sockets is made. The path of a socket may
// have about a hundred bytes: below the parent it needs 12 for the directory, and 41
// for the slash and the name that the plugin chooses.
func (n *launch) socketParent() (string, error) {
	parent, err := proc.ShortTempDir(handshake.MaxSocket() - 12 - 41)
	if err != nil && n.cfg.Python { // most of those listen on TCP
		return proc.TempDir()
	}
	return parent, err
}

// environment is the plugin's, with what a host sets, and without what another host
// has set for pyplug itself.
func (n *launch) environment(certificate []byte) []string {
	base := n.cfg.Env
	if base == nil {
		base = proc.Environ(os.Environ(), false, nil)
	}
	base = slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(handshake.Variables, name)
	})
	set := handshake.Env(handshake.Host{
		CookieKey: n.cfg.CookieKey, CookieValue: n.cfg.CookieValue,
		Versions: n.cfg.Versions, SocketDir: n.process.dir, ClientCert: string(certificate),
	})
	if n.cfg.Python {
		set = append(set, "PYTHONUNBUFFERED=1", "PYTHONFAULTHANDLER=1")
	}
	return proc.Environ(base, false, set)
}

// socketDirs are the directories in which a plugin may create its socket: the one
// that pyplug offers, and the one for temporary files.
func (n *launch) socketDirs(env []string) []string {
	temp := os.TempDir()
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "TMPDIR="); ok && filepath.IsAbs(dir) {
			temp = dir
		}
	}
	return []string{n.process.dir, temp}
}

func (n *launch) clientConfig() *plugin.ClientConfig {
	versions := make(map[int]plugin.PluginSet, len(n.cfg.Versions))
	for _, v := range n.cfg.Versions {
		versions[v] = plugin.PluginSet{}
	}
	logger := hclog.NewNullLogger()
	if n.cfg.Debug != nil {
		logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, DisableTime: true, Output: debugWriter{n.cfg}})
	}
	return &plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: n.cfg.CookieKey, MagicCookieValue: n.cfg.CookieValue},
		VersionedPlugins: versions,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     n.cfg.StartTimeout + time.Minute, // process's own ends first
		SkipHostEnv:      true,
		TLSConfig:        n.tls,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: n.process.dir},
		Logger:           logger,
		Stderr:           io.Discard,
		SyncStdout:       &lineWriter{out: n.process.out, stream: proc.Stdout.String()},
		SyncStderr:       &lineWriter{out: n.process.out, stream: proc.Stderr.String()},
	}
}

// runBy makes go-plugin use a runner. The command that it offers, whose type is C,
// is not used: only proc starts processes.
func runBy[C any](field *func(hclog.Logger, C, string) (runner.Runner, error), r runner.Runner) {
	*field = func(hclog.Logger, C, string) (runner.Runner, error) { return r, nil }
}

// debugWriter passes go-plugin's log on.
type debugWriter struct{ cfg *Config }

func (w debugWriter) Write(b []byte) (int, error) {
	w.cfg.debug("go-plugin", strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// connect connects to the address in the handshake.
func (n *launch) connect(client *plugin.Client) (*Instance, *hook.Error) {
	began := time.Now()
	defer func() { n.seen.Connect = time.Since(began) }()
	p, line := n.process.proc, n.seen.Line
	ctx, cancel := context.WithTimeout(n.ctx, n.cfg.ConnectTimeout)
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-p.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	t := &target{
		network: line.Network, address: line.Address, tls: n.tls, limit: n.cfg.ConnectTimeout, retry: retryLimit,
		check: func() error {
			select {
			case <-p.Done():
				return errExited
			default:
				return checkOwner(p.PID(), line.Network, line.Address)
			}
		},
	}
	if herr := t.dial(ctx); herr != nil {
		return nil, n.notConnected(herr)
	}
	defer t.close()
	n.config.GRPCDialOptions = append(t.options(), grpc.WithStreamInterceptor(n.streamInterceptor(ctx, t)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(n.cfg.maxReflection())))
	protocol, err := client.Client()
	if err != nil {
		return nil, n.notConnected(&hook.Error{Kind: hook.Handshake, Err: fmt.Errorf("go-plugin: %w", err)})
	}
	i := newInstance(n.process, protocol)
	if herr := t.ready(ctx, i.conn); herr != nil {
		i.conn.Close()
		protocol.Close()
		return nil, n.notConnected(herr)
	}
	return i, nil
}

// streamInterceptor handles the streams that go-plugin opens for itself. Those on a
// Python plugin are refused: with one thread, each would keep it from all else. On
// others the first one waits until the connection is ready, so that go-plugin does
// not wait longer than connecting lasts.
func (n *launch) streamInterceptor(connecting context.Context, t *target) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		stdio := strings.HasPrefix(method, stdioService)
		switch {
		case ctx.Value(askingKey{}) != nil: // from Serves, which wants the plugin's answer
			return streamer(ctx, desc, cc, method, opts...)
		case n.cfg.Python && (stdio || strings.HasPrefix(method, brokerService)):
			return nil, status.Error(codes.Unimplemented, "not opened on a python plugin")
		case stdio:
			if herr := t.ready(connecting, cc); herr != nil {
				return nil, status.Error(codes.Unavailable, herr.Error())
			}
		}
		stream, err := streamer(ctx, desc, cc, method, opts...)
		if err != nil && stdio {
			// With any other code go-plugin would leave the connection open.
			return nil, status.Error(codes.Unavailable, err.Error())
		}
		return stream, err
	}
}

// notConnected is the error for a missing connection: that of the process if it has
// exited.
func (n *launch) notConnected(e *hook.Error) *hook.Error {
	if n.ctx.Err() != nil {
		return hook.Ended(n.ctx, "", "no connection", n.process.proc.Started(), false)
	}
	select {
	case <-n.process.proc.Done():
		return n.process.exitError(&hook.Error{Err: errNotReady})
	default:
	}
	switch {
	case e.Reason == ReasonTLS || e.Reason == ReasonClientCertificate || e.Reason == ReasonNoAnswer && n.tls != nil:
		e.Hints = []string{"serve with the certificate that the handshake names, and trust the one in PLUGIN_CLIENT_CERT"}
	case errors.Is(e, syscall.ECONNREFUSED), errors.Is(e, fs.ErrNotExist):
		e.Hints = []string{"print the handshake when the server listens, with the port that it listens on"}
	}
	return e
}

// checkHealth asks the health service once.
func (n *launch) checkHealth(i *Instance) *hook.Error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(n.ctx, n.cfg.HealthTimeout)
	defer cancel()
	name, err := healthStatus(ctx, i.conn, n.cfg.Service)
	n.seen.Health = time.Since(began)
	if err == nil {
		err = notServing(n.cfg.Service, name)
	}
	if err == nil {
		return nil
	}
	herr := healthFailed(n.ctx, err, began)
	switch {
	case n.ctx.Err() == nil && ctx.Err() != nil:
		herr = &hook.Error{Kind: hook.Unhealthy, Reason: ReasonSilent,
			Err: &hook.LimitError{What: "no answer of the health service", Limit: n.cfg.HealthTimeout}}
	case herr.Status != nil && i.exitsWithin(exitLimit):
		return n.process.exitError(&hook.Error{Err: errNotReady})
	}
	if herr.Reason == ReasonNoHealth {
		herr.Hints = []string{fmt.Sprintf("in Python, grpcio-health-checking serves it; set the service %q to SERVING", n.cfg.Service)}
	}
	if herr.Kind == hook.Unhealthy && (n.cfg.AnyHealth || herr.Reason == ReasonNoHealth) {
		n.seen.Unhealthy = herr
		return nil
	}
	return herr
}
