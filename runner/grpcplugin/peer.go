package grpcplugin

import (
	"fmt"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// foreignError is the error for an address at which other processes than the plugin
// listen, too or instead. Processes of other users may be unknown.
func foreignError(address string, pids []int, shared bool) *hook.Error {
	who := "another process"
	switch len(pids) {
	case 0:
	case 1:
		who = fmt.Sprintf("process %d", pids[0])
	default:
		who = "processes " + strings.ReplaceAll(strings.Trim(fmt.Sprint(pids), "[]"), " ", ", ")
	}
	e := &hook.Error{Kind: hook.Handshake, Reason: ReasonForeignAddress}
	if shared {
		e.Err = fmt.Errorf("the address %s belongs to the plugin and to %s, want the plugin alone", address, who)
		e.Hints = []string{`gRPC shares ports by default; turn that off with grpc.server(…, options=[("grpc.so_reuseport", 0)])`}
	} else {
		e.Err = fmt.Errorf("the address %s belongs to %s, want the plugin", address, who)
		e.Hints = []string{"listen on 127.0.0.1:0 and print the port that the system chose"}
	}
	return e
}
