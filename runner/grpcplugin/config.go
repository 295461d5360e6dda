package grpcplugin

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
	"github.com/pyplug/pyplug/runner/settings"
)

// Defaults of a [Config].
const (
	defaultConnect = 5 * time.Second
	defaultService = "plugin"
)

// Config says what a [Launcher] starts. It is copied and never modified.
type Config struct {
	// Path is the absolute, unresolved path of the program. For a Python plugin it is the
	// interpreter. Args follow it.
	Path string
	Args []string
	// Env is the environment without the variables of the handshake. Dir is the working directory,
	// by default pyplug's.
	Env []string
	Dir string
	// Python reports whether the program is a Python. If so, it writes without buffering and prints
	// its stack when it crashes. pyplug then rejects the streams that go-plugin opens for itself,
	// because each would occupy a thread.
	Python bool

	// CookieKey and CookieValue are the magic cookie. An empty key means no cookie.
	CookieKey, CookieValue string
	// Cookie returns the magic cookie in the plugin's source, for a hint, or an empty key. It may
	// be nil.
	Cookie func() (key, value string)
	// Logs reports whether the plugin's source sets up logging. It may be nil.
	Logs func() bool
	// Versions are the protocol versions of the application to offer. Versions, StartTimeout,
	// StopTimeout and MaxMessage have the defaults of their settings.
	Versions []int
	// MTLS secures the connection as go-plugin's AutoMTLS does: the plugin receives pyplug's
	// one-time certificate and must offer its own. Without MTLS, a plugin that offers a certificate
	// is rejected.
	MTLS bool

	// StartTimeout is the timeout of the handshake line.
	StartTimeout time.Duration
	// ConnectTimeout is the timeout of the connection, HealthTimeout that of the health service's
	// first answer. Zero means 5 s.
	ConnectTimeout, HealthTimeout time.Duration
	// StopTimeout is the timeout of the Shutdown RPC, and also the time from the first signal of
	// the stop ladder to the kill. Both together take at most StopTimeout plus a second.
	StopTimeout time.Duration
	// MaxMemory is the memory limit of the process tree in bytes, or 0 for no limit.
	MaxMemory int64

	// Service is the name in requests to the health service, by default "plugin".
	Service string
	// AnyHealth accepts a plugin whatever its health service answers, and even without an answer.
	// [Evidence] records the error.
	AnyHealth bool
	// Observe receives the evidence of a start, even a failed one, before Launch returns. It may be
	// nil.
	Observe func(Evidence)
	// Metadata is sent with every RPC, as pairs of name and value. The values of a name that ends
	// in "-bin" are sent unchanged.
	Metadata []string
	// MaxMessage is the largest size in bytes of a message of a hook, in both directions.
	MaxMessage int
	// Sources returns the descriptors for a plugin without server reflection, see
	// [protoschema.ReadFiles]. It is called once per launch, while the plugin starts, so that it
	// costs no time. Its error matters only if the descriptors are needed. It may be nil.
	Sources func() ([]protoschema.Source, error)
	// Extra are descriptors that the user named. They are merged with the descriptors from
	// reflection or Sources. A contradiction is an error.
	Extra []protoschema.Source

	// Missing returns hints that say how to provide a module that the plugin lacks. It may be nil.
	Missing func(*schema.MissingModuleError) []schema.Hint
	// Output receives the plugin's output line by line, from one goroutine at a time. If it is nil,
	// the output is discarded.
	Output func(stream, text string, cut int)
	// Debug receives messages for developers, in the areas "proc" and "grpc". If it is nil, they
	// are discarded.
	Debug func(area, text string)
}

// ShownCookie returns the magic cookie in the plugin's source as KEY=VALUE. It returns "" if the
// source has none, or if the plugin was started with that cookie.
func (c Config) ShownCookie() string {
	if c.Cookie == nil {
		return ""
	}
	key, value := c.Cookie()
	if key == "" || key == c.CookieKey && value == c.CookieValue {
		return ""
	}
	return key + "=" + value
}

// Launcher starts processes of one gRPC plugin.
type Launcher struct {
	cfg Config

	mu     sync.Mutex  // protects living
	living []*Instance // each listens at its own address
}

var _ hook.Launcher = (*Launcher)(nil)

// New returns a launcher. It starts nothing.
func New(cfg Config) *Launcher {
	usual := settings.Defaults()
	if len(cfg.Versions) == 0 {
		cfg.Versions = usual.ProtocolVersions
	}
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, settings.ServerDefaults().Timeouts.Start)
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, defaultConnect)
	cfg.HealthTimeout = cmp.Or(cfg.HealthTimeout, defaultConnect)
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, usual.Timeouts.Stop)
	cfg.Service = cmp.Or(cfg.Service, defaultService)
	cfg.MaxMessage = cmp.Or(cfg.MaxMessage, int(usual.MaxMessage))
	if cfg.Output == nil {
		cfg.Output = func(string, string, int) {}
	}
	if cfg.Debug == nil {
		cfg.Debug = func(string, string) {}
	}
	return &Launcher{cfg: cfg}
}

// Renew does nothing, because each launch reads the plugin's files.
func (l *Launcher) Renew() {}

// Close does nothing, because a launcher has no resources to release.
func (l *Launcher) Close(context.Context) error { return nil }

// certificateName is the name in go-plugin's certificates.
const certificateName = "localhost"

// newCertificate creates the certificate of one launch. It returns the TLS configuration that
// presents it, and its PEM text for the plugin. The plugin's own certificate is added to the
// configuration after the handshake.
func newCertificate() (*tls.Config, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("key for the certificate: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: certificateName, Organization: []string{"pyplug"}},
		DNSNames:              []string{certificateName},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		NotBefore:             now.Add(-30 * time.Second),
		NotAfter:              now.AddDate(30, 0, 0),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	cfg := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      x509.NewCertPool(), // empty until the handshake contains a certificate
		MinVersion:   tls.VersionTLS12,
		ServerName:   certificateName,
	}
	return cfg, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
