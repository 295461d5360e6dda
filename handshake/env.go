package handshake

import (
	"strconv"
	"strings"
)

// Host describes a host to a plugin before the plugin starts. Empty fields set no variable.
type Host struct {
	// CookieKey and CookieValue are the magic cookie, which shows a plugin that a
	// host started it.
	CookieKey, CookieValue string
	// Versions are the app versions that the host supports.
	Versions []int
	// SocketDir is the directory for the plugin's Unix socket.
	SocketDir string
	// ClientCert is the host's certificate in PEM, for mutual TLS.
	ClientCert string
}

// Variables lists the variables that only a host sets, without the magic cookie. A host that is
// itself a plugin must not pass on the variables of its own host. go-plugin itself does not use
// PLUGIN_TRANSPORTS, but hosts in other languages set it.
var Variables = []string{
	"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_MULTIPLEX_GRPC", "PLUGIN_CLIENT_CERT",
	"PLUGIN_UNIX_SOCKET_GROUP", "PLUGIN_UNIX_SOCKET_DIR", "PLUGIN_TRANSPORTS",
}

// MinPort and MaxPort are go-plugin's default limits for the plugin's port.
const MinPort, MaxPort = 10000, 25000

// Env returns the variables of h as "NAME=value", in go-plugin's order and with its
// default ports.
func Env(h Host) []string {
	var env []string
	for _, variable := range [][2]string{
		{h.CookieKey, h.CookieValue},
		{"PLUGIN_MIN_PORT", strconv.Itoa(MinPort)},
		{"PLUGIN_MAX_PORT", strconv.Itoa(MaxPort)},
		{"PLUGIN_PROTOCOL_VERSIONS", strings.Join(decimals(h.Versions), ",")},
		{"PLUGIN_CLIENT_CERT", h.ClientCert},
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
