//go:build linux

package commands_test

import (
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestMCPGRPC checks that the tools and schemas of a gRPC plugin come from its descriptors, even if
// the plugin does not start.
func TestMCPGRPC(t *testing.T) {
	t.Parallel()
	env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "PYTHONDONTWRITEBYTECODE=1"}
	zoo := []string{"--cookie", "ZOO_COOKIE=monkey", "testdata/plugins/grpc/zoo.py"}
	const echo = `{"name":"Zoo_Echo","inputSchema":{"additionalProperties":false,"properties":{"text":{"type":"string"}},"type":"object"}}`
	broken := mcpOf(t, append(env, "ZOO=--nosuch"), zoo...)
	broken.call("Zoo_Echo", `{"text":"x"}`, `unrecognized arguments: --nosuch`)
	listed := broken.ask("tools/list", "{}")
	broken.close()
	m := mcpOf(t, append(env, "ZOO=--noise"), zoo...)
	if got := m.ask("tools/list", "{}"); !strings.Contains(got, echo) || strings.Contains(got, "Zoo_Sum") || got != strings.Replace(listed, `"id":3`, `"id":2`, 1) {
		t.Errorf("got  %s\nafter %s", got, listed)
	}
	m.call("Zoo_Echo", `{"text":"x"}`, `"structuredContent":{"text":"x"}`)
	m.call("Zoo_Print", `{"text":"printed"}`, `"printed"`)
	m.call("Zoo_Echo", `{"txt":"x"}`, `unknown field \"txt\"`)
	m.call("Zoo_Fail", `{"text":"x"}`, `on purpose\nhint: call logging.basicConfig()`)
	m.call("Zoo_Count", `{"n":3}`, `{\"n\":\"1\"}\n{\"n\":\"2\"}`)
	m.call("Zoo_Leave", `{"n":3}`, `the plugin exited during the call (exit code 3)`)
	m.call("Zoo_Echo", `{"text":"again"}`, `"structuredContent":{"text":"again"}`)
	id := m.begin("tools/call", `{"name":"Zoo_Hang","arguments":{"text":"x"}}`)
	m.call("Zoo_Echo", `{"text":"beside"}`, `"structuredContent":{"text":"beside"}`)
	m.cancel(id)
	m.call("Zoo_Echo", `{"text":"after"}`, `"structuredContent":{"text":"after"}`)
	m.close()
}
