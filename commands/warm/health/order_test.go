//go:build linux || darwin

package health

import (
	"slices"
	"testing"

	"github.com/pyplug/pyplug/commands/warm/warmtest"
)

// TestOrder holds what all of this is for: that init runs before what takes time.
func TestOrder(t *testing.T) {
	before, _ := warmtest.Inits(t, "commands/warm/health")
	if len(before) > 32 { // 29, of about 210
		t.Errorf("%d packages initialise before this one: %q", len(before), before)
	}
	for _, heavy := range []string{
		"encoding/gob", "google.golang.org/protobuf/reflect/protodesc", "google.golang.org/protobuf/types/descriptorpb",
		"github.com/bufbuild/protocompile/linker", "github.com/hashicorp/go-plugin", "github.com/urfave/cli/v2",
		"google.golang.org/grpc", "crypto/tls", "net/http", "github.com/pyplug/pyplug/commands",
	} {
		if slices.Contains(before, heavy) {
			t.Errorf("%s initialises before this package", heavy)
		}
	}
}
