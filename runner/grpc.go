package runner

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/grpcplugin"
)

// GRPC has the settings of gRPC plugins. A field with its zero value takes the value of the
// manifest, else the default.
type GRPC struct {
	// [Open] sets the fields that follow from the rest of [Config].
	grpcplugin.Config
	// Decides is a given flag that applies only to gRPC plugins, or "". It decides the
	// transport.
	Decides string
	// Host names one of [manifest.Hosts]. The plugin is started as that host does. Config
	// and MTLS take precedence over Host, and Host over the manifest.
	Host string
	// Arguments follow those of the manifest.
	Arguments []string
	// NoCookie sets no cookie, whatever the manifest says.
	NoCookie bool
	// MTLS secures the connection as go-plugin's AutoMTLS does.
	MTLS *bool
	// Proto and Protoset are files that describe the plugin's methods. Proto has
	// generated code, Protoset what protoc -o writes.
	Proto, Protoset []string
}

// Program says how a gRPC plugin is started.
type Program = grpcplugin.Config

// Evidence records what a gRPC plugin did while it started.
type Evidence = grpcplugin.Evidence

// ParseHeader reads metadata of a gRPC request: NAME=VALUE or, as for HTTP, "NAME: VALUE".
// Its error reads after the name of a flag.
func ParseHeader(text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if before, after, colon := strings.Cut(text, ":"); colon && len(before) < len(name) {
		name, value, ok = before, strings.TrimLeft(after, " \t"), true
	}
	name = strings.ToLower(name)
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r)
	})
	switch {
	case !ok || name == "" || bad:
		return "", "", fmt.Errorf("is %q, want NAME=VALUE or \"NAME: VALUE\" with a name of letters, digits, and . - or _", text)
	case strings.HasPrefix(name, "grpc-"), slices.Contains([]string{"te", "content-type", "user-agent"}, name):
		return "", "", fmt.Errorf("has the name %s, which is gRPC's own", name) // which would drop it
	case strings.HasSuffix(name, "-bin"):
		content, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			content, err = base64.RawStdEncoding.DecodeString(value)
		}
		if err != nil {
			return "", "", fmt.Errorf("has a value for %s that is not base64, which a name that ends in -bin needs", name)
		}
		value = string(content)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", "", fmt.Errorf("has the value %q for %s, want printable ASCII; a name that ends in -bin takes base64 of anything", value, name)
	}
	return name, value, nil
}
