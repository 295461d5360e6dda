package grpcplugin

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
)

// TestCodeName checks the names in grpc's statuscodes.md.
func TestCodeName(t *testing.T) {
	for number, want := range []string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
		"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
		"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED", "Code(17)",
	} {
		if got := codeName(codes.Code(number)); got != want {
			t.Errorf("%d: got %s, want %s", number, got, want)
		}
	}
}

// TestLineHints checks the hints for faults in a handshake line.
func TestLineHints(t *testing.T) {
	for line, want := range map[string]string{
		"1|2|tcp|127.0.0.1:1|grpc":    "offer it, as this plugin's host does: --protocol-versions 2",
		"1|1|tcp|127.0.0.1:1|gRPC":    `print "grpc" as the fifth field: a Python plugin serves gRPC`,
		"1|1|unix|/elsewhere/p|grpc":  "create the socket in the directory that PLUGIN_UNIX_SOCKET_DIR names, or in the temporary directory if it is not set",
		"1|1|tcp|192.0.2.1:4410|grpc": "listen on 127.0.0.1:0 and print the port that the system chose; pyplug connects to this machine only",
		"1|1":                         "print a complete line, such as 1|1|tcp|127.0.0.1:4410|grpc",
	} {
		l, err := handshake.Parse(line)
		if err == nil {
			err = l.Verify(handshake.Want{Versions: []int{1}, Dirs: []string{"/tmp"}})
		}
		var fault *handshake.Error
		if !errors.As(err, &fault) {
			t.Errorf("%s: got %v", line, err)
		} else if got := lineHints(fault); len(got) != 1 || hook.Word(got[0]) != want {
			t.Errorf("%s: got %q, want %q", line, hook.Words(got), want)
		}
	}
}
