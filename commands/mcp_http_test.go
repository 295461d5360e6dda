//go:build linux

package commands_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// testHTTPClient performs the steps with a client over HTTP. Then other sessions begin and end,
// clients cancel a call or are killed during it, and the plugin's file changes.
func testHTTPClient(t *testing.T, words []string, version string) {
	plugin := filepath.Join(t.TempDir(), "tools.py")
	text, err := os.ReadFile(clientTools)
	if err == nil {
		err = os.WriteFile(plugin, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := serveTCP(t, nil, "--listen", "127.0.0.1:0", "--drain", "0", "--watch", plugin)
	server := []string{s.url + "/mcp"}
	c := newMCPClient(t, words, server, os.Environ(), version)
	c.steps(s.marker)

	processes := len(runnertest.WithEnv(s.tag))
	for _, sessions := range []string{`"sessions":30,"at_once":1`, `"sessions":20,"at_once":20`} {
		number, _, _ := strings.Cut(sessions, ",")
		fmt.Fprintf(c.in, `{%s,"call":%s}`+"\n", sessions, wrongStep)
		c.expect(sessions, fmt.Sprintf(`{%s,"all":[%q]}`, number, wrongAnswer))
		if now := len(runnertest.WithEnv(s.tag)); now != processes {
			t.Errorf("after %s there are %d processes, before %d", sessions, now, processes)
		}
	}

	other := newMCPClient(t, words, server, os.Environ(), version)
	for name, leave := range map[string]func(c *mcpClient, nap string){
		"a call is canceled": func(c *mcpClient, nap string) {
			fmt.Fprintln(c.in, strings.TrimSuffix(nap, "}")+`,"cancel":true}`)
			c.expect(nap, `{"canceled":true}`)
		},
		"a client is killed": func(c *mcpClient, nap string) {
			fmt.Fprintln(c.in, nap)
			runnertest.Until(t, "the call runs", runnertest.Exists(s.marker))
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed
		},
	} {
		_ = os.Remove(s.marker)
		leaving := newMCPClient(t, words, server, os.Environ(), version)
		leave(leaving, fmt.Sprintf(`{"tool":"nap","args":{"marker":%q}}`, s.marker))
		began := time.Now()
		if got := other.do(wrongStep); got != wrongAnswer {
			t.Errorf("after %s, a call gives %s", name, got)
		}
		t.Logf("after %s, the next call is answered in %s", name, time.Since(began))
		if leaving.ProcessState == nil {
			leaving.close()
		}
	}
	other.close()

	if err := os.WriteFile(plugin, append(text, "\n\ndef added(): pass\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "the edit is listed", func() bool { return strings.HasSuffix(c.do(`{}`), `,"added"]`) })
	c.close()
}

// The scenarios of the official suite that concern a server of tools.
const (
	oldScenarios = "server-initialize ping tools-list tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource " +
		"tools-call-mixed-content tools-call-error tools-call-with-progress server-sse-multiple-streams dns-rebinding-protection"
	newScenarios = "server-stateless caching http-header-validation input-required-result-unsupported-methods " +
		"tools-list tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource " +
		"tools-call-mixed-content tools-call-error tools-call-with-progress server-sse-multiple-streams dns-rebinding-protection"
)

// otherServers are the checks that concern servers with prompts and resources, and tools that ask
// the client.
var otherServers = []string{
	"sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints", "sep-2549-resources-templates-list-caching-hints",
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
}

var checkLine = regexp.MustCompile(`\[([\w-]+) *\]\S* \S*(SUCCESS|FAILURE)`)

// testConformance runs the official suite, with both generations of the protocol.
func testConformance(t *testing.T, words []string) {
	for _, c := range []struct{ name, suite, version, scenarios string }{
		{"released", "@modelcontextprotocol/conformance", "2025-11-25", oldScenarios},
		{"next", "conformance2", "2025-11-25", oldScenarios + " server-session-lifecycle"},
		{"next, modern", "conformance2", "2026-07-28", newScenarios},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serveTCP(t, nil, "--listen", "127.0.0.1:0", "--drain", "0", "testdata/mcpclients/conformance.py")
			for _, scenario := range strings.Fields(c.scenarios) {
				suite := exec.CommandContext(t.Context(), words[0], filepath.Join(words[1], c.suite, "dist/index.js"), "server",
					"--url", s.url+"/mcp", "--spec-version", c.version, "--scenario", scenario)
				out, _ := suite.CombinedOutput() // the suite fails because of the checks in otherServers
				wantPassed(t, scenario, out)
			}
		})
	}
}

// wantPassed checks that the suite's output has no failed check except those in otherServers.
func wantPassed(t *testing.T, scenario string, out []byte) {
	t.Helper()
	passed := 0
	for _, found := range checkLine.FindAllSubmatch(out, -1) {
		switch id := string(found[1]); {
		case string(found[2]) == "SUCCESS":
			passed++
		case !slices.Contains(otherServers, id):
			t.Errorf("%s: %s fails: %s", scenario, id, out)
		}
	}
	if passed == 0 {
		t.Errorf("%s passes nothing: %s", scenario, out)
	}
}

// testURLConfig connects with the configurations that mcp prints for a URL.
func testURLConfig(t *testing.T, inspector []string) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveTCP(t, nil, "--listen", "127.0.0.1:0", "--drain", "0", "--token-file", token, clientTools)
	for client, list := range map[string]func(file string) *exec.Cmd{
		"claude-code": func(file string) *exec.Cmd {
			cmd := exec.Command(inspector[0], append(inspector[1:], "--cli", "--config", file, "--server", "tools", "--method", "tools/list")...)
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(inspector[0])+":"+os.Getenv("PATH")) // the inspector starts node
			return cmd
		},
		"cursor": func(file string) *exec.Cmd {
			const program = `
import asyncio, fastmcp, json, sys
async def main():
    async with fastmcp.Client(json.load(open(sys.argv[1]))) as client:
        print([tool.name for tool in await client.list_tools()])
asyncio.run(main())`
			return exec.Command(runnertest.Packages(t, "fastmcp==4.1.0"), "-c", program, file)
		},
	} {
		config := pyplug(t, nil, "mcp", "--config", client, "--url", s.url+"/mcp", clientTools)
		if err := config.Run(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, client+".json")
		if err := os.WriteFile(file, []byte(strings.Replace(config.out.String(), "TOKEN", "sesame", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := list(file).CombinedOutput(); err != nil || !strings.Contains(string(out), "later") {
			t.Errorf("by the configuration of %s: %v, %s", client, err, out)
		}
	}
}
