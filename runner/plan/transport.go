package plan

import (
	"strings"
)

// Transport is a way to run and call a plugin, as far as users notice it. The zero value is
// an unknown transport.
type Transport struct {
	// What names such a plugin in a message.
	What string
	// Serves reports whether the plugin is a server that hosts of go-plugin start, too.
	// Otherwise a worker of pyplug imports it.
	Serves bool
	// Streams reports whether a hook may read a stream of messages as its input.
	Streams bool
	// NoHooks says why such a plugin may have no hooks.
	NoHooks string
}

// plural names such plugins in a message.
func (t Transport) plural() string { return strings.TrimPrefix(t.What, "a ") + "s" }

// transports has every transport by its name.
var transports = map[string]Transport{
	"pipe": {What: "a functions file", NoHooks: "it defines no public function"},
	"grpc": {
		What: "a gRPC plugin", Serves: true, Streams: true,
		NoHooks: "no server reflection describes its methods, and no other descriptors were found",
	},
}

// TransportOf returns the transport of a name, or the zero value.
func TransportOf(name string) Transport { return transports[name] }
