package plan

import (
	"strings"
)

// Transport is a way to run and call a plugin, as users see it. The zero value is an unknown
// transport.
type Transport struct {
	// What is the word for such a plugin in a message.
	What string
	// Serves reports whether the plugin is a server, which hosts of go-plugin can start, too.
	// Otherwise a worker of pyplug imports it.
	Serves bool
	// Streams reports whether a hook may read a stream of messages as its input.
	Streams bool
	// NoHooks says why such a plugin may have no hooks.
	NoHooks string
}

// plural returns the word for several such plugins in a message.
func (t Transport) plural() string { return strings.TrimPrefix(t.What, "a ") + "s" }

// transports maps the names of transports to transports.
var transports = map[string]Transport{
	"pipe": {What: "a functions file", NoHooks: "it defines no public function"},
	"grpc": {
		What: "a gRPC plugin", Serves: true, Streams: true,
		NoHooks: "no server reflection describes its methods, and no other descriptors were found",
	},
}

// TransportOf returns the transport with a name, or the zero value.
func TransportOf(name string) Transport { return transports[name] }
