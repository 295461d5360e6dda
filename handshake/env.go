package handshake

import (
	"strconv"
	"strings"
)

// Host is what a host announces to a plugin before it starts. Empty fields are
// left out, except the ports: they default to 10000 and 25000.
type Host struct {
	// CookieKey and CookieValue are the magic cookie, which shows a plugin that a
	// host started it.
	CookieKey, CookieValue string
	// Versions are the app versions that the host speaks.
	Versions []int
	// MinPort and MaxPort bound the TCP port that the plugin should choose.
	MinPort, MaxPort int
	// SocketDir is the directory for the plugin's Unix socket, SocketGroup the
	// group that should own it.
	SocketDir, SocketGroup string
	// ClientCert is the host's certificate in PEM, for mutual TLS.
	ClientCert string
	// Mux requests one connection for everything.
	Mux bool
}

// Variables are the variables that only a host sets, except the magic cookie. A
// host that is itself a plugin must not pass on those of its own host.
// PLUGIN_TRANSPORTS is not go-plugin's: hosts in other languages set it.
var Variables = []string{
	"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_MULTIPLEX_GRPC", "PLUGIN_CLIENT_CERT",
	"PLUGIN_UNIX_SOCKET_GROUP", "PLUGIN_UNIX_SOCKET_DIR", "PLUGIN_TRANSPORTS",
}

// Env returns the variables of h as "NAME=value", in go-plugin's order.
func Env(h Host) []string {
	if h.MinPort == 0 && h.MaxPort == 0 {
		h.MinPort, h.MaxPort = 10000, 25000
	}
	mux := ""
	if h.Mux {
		mux = "true"
	}
	var env []string
	for _, variable := range [][2]string{
		{h.CookieKey, h.CookieValue},
		{"PLUGIN_MIN_PORT", strconv.Itoa(h.MinPort)},
		{"PLUGIN_MAX_PORT", strconv.Itoa(h.MaxPort)},
		{"PLUGIN_PROTOCOL_VERSIONS", strings.Join(decimals(h.Versions), ",")},
		{"PLUGIN_MULTIPLEX_GRPC", mux},
		{"PLUGIN_CLIENT_CERT", h.ClientCert},
		{"PLUGIN_UNIX_SOCKET_GROUP", h.SocketGroup},
		{"PLUGIN_UNIX_SOCKET_DIR", h.SocketDir},
	} {
		if name, value := variable[0], variable[1]; name != "" && value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func decimals(numbers []int) []string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return words
}
