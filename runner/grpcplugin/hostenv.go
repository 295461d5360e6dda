package grpcplugin

import (
	"slices"
	"strings"

	"github.com/pyplug/pyplug/handshake"
)

// withoutHost is an environment without what another host, whose plugin pyplug
// runs in, has set there: a plugin would take it for ours.
func withoutHost(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(handshake.Variables, name)
	})
}

// hostEnv is what a host sets for a plugin.
func hostEnv(cfg *Config, sockets string, certificate []byte) []string {
	return handshake.Env(handshake.Host{
		CookieKey: cfg.CookieKey, CookieValue: cfg.CookieValue,
		Versions: cfg.Versions, SocketDir: sockets, ClientCert: string(certificate),
	})
}
