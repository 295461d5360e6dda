package grpcplugin_test

import (
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// grpcio returns a Python that has grpcio, or skips the test.
func grpcio(t testing.TB) string {
	t.Helper()
	return runnertest.GRPCIO(t)
}
