package grpcplugin_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/grpcplugin"
)

// TestMessages holds what errors say where no plugin here brings them about.
func TestMessages(t *testing.T) {
	noise := []grpcplugin.Noise{{Text: "loading"}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{&grpcplugin.OwnerError{Address: "127.0.0.1:1"}, "the address 127.0.0.1:1 belongs to another process, want the plugin"},
		{&grpcplugin.OwnerError{Address: "127.0.0.1:1", PIDs: []int{7}}, "the address 127.0.0.1:1 belongs to process 7, want the plugin"},
		{&grpcplugin.OwnerError{Address: "/s", PIDs: []int{7, 8}, Shared: true},
			"the address /s belongs to the plugin and to processes 7 and 8, want the plugin alone"},
		{&grpcplugin.OwnerError{Address: "/s", PIDs: []int{7, 8, 9}}, "the address /s belongs to processes 7, 8 and 9, want the plugin"},
		{&grpcplugin.NoHandshakeError{Limit: time.Second, Noise: noise, Lines: 1, OnStderr: "1|1|tcp"},
			`no handshake on standard output within 1s, but standard error has "1|1|tcp"`},
		{&grpcplugin.ConnectError{Network: "unix", Address: "/s", Stage: "tls", Limit: time.Second},
			"unix:/s takes connections but does not answer within 1s, want TLS"},
		{&grpcplugin.ConnectError{Network: "tcp", Address: "127.0.0.1:1", Stage: "connect", Err: errors.New("refused")},
			"cannot connect to 127.0.0.1:1: refused"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
