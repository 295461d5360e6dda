package grpcplugin

import (
	"errors"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
)

// Lasting tells whether a start that failed with err will fail so again until the
// plugin is changed: its handshake says what no host of ours takes, or what
// listens at its address does not speak gRPC as it is spoken to. One that came
// too late, or was not there, may do better.
func Lasting(err error) bool {
	var e *hook.Error
	if !errors.As(err, &e) || e.Kind != hook.Handshake {
		return false
	}
	if line := (*handshake.Error)(nil); errors.As(err, &line) {
		return true
	}
	c := (*ConnectError)(nil)
	return errors.As(err, &c) && c.Stage != stageConnect && c.Limit == 0
}
