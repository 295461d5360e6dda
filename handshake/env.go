package handshake

import (
	"strconv"
	"strings"
)

// Host is what a host tells a plugin before it starts. Empty fields are not told,
// but for the ports, which are always: 10000 to 25000 unless set.
type Host struct {
	// CookieKey and CookieValue are the magic cookie, by which a plugin sees that
	// it was not started by hand.
	CookieKey, CookieValue string
	// Versions are the app versions that the host speaks.
	Versions []int
	// MinPort and MaxPort bound the port that a plugin on tcp should choose.
	MinPort, MaxPort int
	// SocketDir is where a plugin on unix should put its socket, SocketGroup the
	// group it should give it.
	SocketDir, SocketGroup string
	// ClientCert is the host's certificate in PEM, if it wants mutual TLS.
	ClientCert string
	// Mux asks for one connection for everything.
	Mux bool
}

// Variables are those that only a host sets, but for the magic cookie. Where a host
// is itself a plugin of another, it passes none of that one's on. PLUGIN_TRANSPORTS
// is not go-plugin's, but set by hosts of plugins in other languages.
var Variables = []string{
	"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_MULTIPLEX_GRPC", "PLUGIN_CLIENT_CERT",
	"PLUGIN_UNIX_SOCKET_GROUP", "PLUGIN_UNIX_SOCKET_DIR", "PLUGIN_TRANSPORTS",
}

// Env is the environment of h, "NAME=value" each, in go-plugin's order. The host's
// own environment is not in it.
func Env(h Host) []string {
	if h.MinPort == 0 && h.MaxPort == 0 {
		h.MinPort, h.MaxPort = 10000, 25000
	}
	versions := make([]string, len(h.Versions))
	for i, v := range h.Versions {
		versions[i] = strconv.Itoa(v)
	}
	var env []string
	set := func(name, value string) {
		if name != "" && value != "" {
			env = append(env, name+"="+value)
		}
	}
	set(h.CookieKey, h.CookieValue)
	set("PLUGIN_MIN_PORT", strconv.Itoa(h.MinPort))
	set("PLUGIN_MAX_PORT", strconv.Itoa(h.MaxPort))
	set("PLUGIN_PROTOCOL_VERSIONS", strings.Join(versions, ","))
	if h.Mux {
		set("PLUGIN_MULTIPLEX_GRPC", "true")
	}
	set("PLUGIN_CLIENT_CERT", h.ClientCert)
	set("PLUGIN_UNIX_SOCKET_GROUP", h.SocketGroup)
	set("PLUGIN_UNIX_SOCKET_DIR", h.SocketDir)
	return env
}
