package grpcplugin

import (
	"context"
	"crypto/elliptic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// Defaults of a [Config].
const (
	defaultStart   = 30 * time.Second
	defaultConnect = 5 * time.Second
	defaultMessage = 64 << 20
	defaultService = "plugin"
	// many is how many calls a plugin is given at once: what HTTP/2 servers
	// take of streams by default. A server with fewer threads queues them.
	many = 100
)

// Security says how the connection to a plugin is secured.
type Security uint8

// The kinds of security. The zero value is none.
const (
	// Plain is no TLS. A plugin that offers a certificate is refused.
	Plain Security = iota
	// MutualTLS is what go-plugin's AutoMTLS does: the plugin is given our
	// one-time certificate and has to offer one of its own.
	MutualTLS
)

// Config says what a [Launcher] starts. It is copied and never written to.
type Config struct {
	// Path is the program's absolute, unresolved path, for a Python plugin its
	// interpreter; Args follow it.
	Path string
	Args []string
	// Env is the environment, without what the handshake adds; nil is ours,
	// cleaned. Dir is the working directory, empty: ours.
	Env []string
	Dir string
	// Python tells that the program is a Python: it is made to write without
	// buffering and to show where it crashes, and the streams that go-plugin
	// opens for itself are refused, since they would each hold a thread of it.
	Python bool

	// CookieKey and CookieValue are the magic cookie. Without a key there is
	// none.
	CookieKey, CookieValue string
	// Versions are the application's protocol versions that are offered; empty
	// means 1 alone.
	Versions []int
	// Security is how the connection is secured, Curve that of our
	// certificate's key; nil means P-256.
	Security Security
	Curve    elliptic.Curve

	// StartTimeout bounds the time to the handshake line; 0 means 30 s.
	StartTimeout time.Duration
	// ConnectTimeout bounds the connection, HealthTimeout the first answer of the
	// health service; 0 means 5 s.
	ConnectTimeout, HealthTimeout time.Duration
	// StopTimeout runs from the first signal of the stop ladder to the kill;
	// 0 means 5 s.
	StopTimeout time.Duration
	// Limits bound what the plugin and all that it starts take.
	Limits proc.Limits

	// Service is the name that health is asked for; empty means "plugin".
	Service string
	// AnyHealth takes a plugin for ready whatever its health service says, or
	// if it says nothing; [Evidence] has that.
	AnyHealth bool
	// Seen receives what was seen of a plugin while it started, also when that
	// failed, before Launch returns; nil: nobody looks.
	Seen func(Evidence)
	// Metadata is sent with every call of a hook, as pairs of name and value.
	// The values of a name that ends in "-bin" are sent as they are.
	Metadata []string
	// MaxMessage is the size in bytes above which a message of a hook is refused,
	// either way; 0 means 64 MiB.
	MaxMessage int
	// EmitDefaults makes fields without a value appear in results.
	EmitDefaults bool
	// Sources returns the descriptors for a plugin that does not serve
	// reflection, see [protoschema.ReadFiles]. It is called once per launch,
	// while the plugin starts, since it costs no time then; its error is told
	// when they are needed. nil: there are none.
	Sources func(ctx context.Context) ([]protoschema.Source, error)
	// Extra returns descriptors that a user named. They are joined to those of
	// reflection or Sources, and an error where the two disagree. It is called
	// at most once per launch, when they are needed; nil: there are none.
	Extra func(ctx context.Context) ([]protoschema.Source, error)

	// Output receives what the plugin prints, a line at a time; nil discards
	// it. It is never called by two goroutines at once for one process.
	Output func(stream, text string, cut int)
	// Debug receives what happens, for a developer; nil: nothing is told. The
	// areas are "proc", "grpc" and "go-plugin".
	Debug func(area, text string)
}

// Launcher starts processes of one gRPC plugin.
type Launcher struct {
	cfg Config
}

var _ hook.Launcher = (*Launcher)(nil)

// New returns a launcher. It starts nothing.
func New(cfg Config) *Launcher {
	if len(cfg.Versions) == 0 {
		cfg.Versions = []int{1}
	}
	if cfg.Curve == nil {
		cfg.Curve = elliptic.P256()
	}
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = defaultStart
	}
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = defaultConnect
	}
	if cfg.HealthTimeout <= 0 {
		cfg.HealthTimeout = defaultConnect
	}
	if cfg.Service == "" {
		cfg.Service = defaultService
	}
	if cfg.MaxMessage <= 0 {
		cfg.MaxMessage = defaultMessage
	}
	if cfg.Output == nil {
		cfg.Output = func(string, string, int) {}
	}
	return &Launcher{cfg: cfg}
}

// Close does nothing: a launcher keeps nothing between launches.
func (l *Launcher) Close(context.Context) error { return nil }

// mostOwn bounds the answers to our own questions, such as reflection: a small
// MaxMessage is not meant for them.
func (c *Config) mostOwn() int { return max(c.MaxMessage, defaultMessage) }

// debug tells a developer.
func (c *Config) debug(area, text string) {
	if c.Debug != nil {
		c.Debug(area, text)
	}
}
