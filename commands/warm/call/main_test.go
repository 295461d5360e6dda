//go:build linux || darwin

package call

import (
	"os"
	"testing"

	"github.com/pyplug/pyplug/commands/warm/warmtest"
)

func TestMain(m *testing.M) { os.Exit(warmtest.Main(m)) }
