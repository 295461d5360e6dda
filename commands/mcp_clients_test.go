//go:build linux

package commands_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// The clients, from PyPI and npm. The newer inspector needs a newer Node than most machines have.
var (
	pypiClients = []string{"mcp==1.30.0", "mcp==2.3.0"}
	npmClients  = []string{
		"node@22.23.3", "@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0",
		"inspector1@npm:@modelcontextprotocol/inspector@1.0.3", "inspector2@npm:@modelcontextprotocol/inspector@2.12.0",
		"@modelcontextprotocol/conformance@0.1.16", "conformance2@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
	}
)

const clientTools = "testdata/mcpclients/tools.py"

// clientSteps lists the steps of every client, with a part of the expected output. MARKER is a
// path.
var clientSteps = []struct{ step, want string }{
	{laterStep, laterAnswer}, // a call before the client lists the tools
	{`{}`, `["later","wrong","fail","die","nap","count"]`},
	{laterStep, laterAnswer},
	{`{"tool":"later","args":{"items":[{"name":"a","due":"x"}]}}`, `{"error":true,"text":"$.items[0].due is \"x\", expected a date such as 2024-12-31\n`},
	{wrongStep, wrongAnswer},
	{`{"tool":"fail","args":{}}`, `{"error":true,"text":"ValueError: no\n`},
	{`{"tool":"die","args":{}}`, `{"error":true,"text":"the plugin exited during the call (exit code 3)`},
	{wrongStep, wrongAnswer},
	{`{"tool":"nope","args":{}}`, `{"code":-32602}`},
	{`{"tool":"nap","args":{"marker":"MARKER"},"cancel":true}`, `{"canceled":true}`},
	{wrongStep, wrongAnswer},
	{`{"tool":"count","args":{"seen":"MARKER"}}`, `{"error":false,"text":"0\n1\n2","structured":null,"progress":["0","1","2"]}`},
}

const (
	laterStep   = `{"tool":"later","args":{"items":[{"name":"a","due":"2026-01-31"},{"name":"b","due":"2026-01-31","level":"high"}]}}`
	laterAnswer = `{"error":false,"text":"{\"a\":\"2026-02-01\"}","structured":{"a":"2026-02-01"},"progress":[]}`
	wrongStep   = `{"tool":"wrong","args":{}}` // its annotation is wrong
	wrongAnswer = `{"error":false,"text":"{\"no\":\"int\"}","structured":{"no":"int"},"progress":[]}`
)

// TestMCPClients checks that released clients get the same answers with both generations of the
// protocol, from the command that they start and over HTTP.
func TestMCPClients(t *testing.T) {
	if os.Getenv("PYPLUG_TEST_LONG") == "" {
		t.Skip("runs with PYPLUG_TEST_LONG=1")
	}
	npm := sync.OnceValues(func() (string, error) { return installNPM(t) })
	python := func(i int) func(*testing.T) []string {
		return func(t *testing.T) []string {
			return []string{runnertest.Packages(t, pypiClients[i]), "testdata/mcpclients/client.py"}
		}
	}
	node := func(words ...string) func(*testing.T) []string {
		return func(t *testing.T) []string {
			dir, err := npm()
			if err != nil {
				t.Skip("needs npm and its registry: ", err)
			}
			return append([]string{filepath.Join(dir, "node_modules/.bin/node"), filepath.Join(dir, words[0])}, words[1:]...)
		}
	}
	for name, c := range map[string]struct {
		command       func(t *testing.T) []string
		mode, version string
	}{
		"Python 1":             {python(0), "", "2025-11-25"},
		"Python 2":             {python(1), "auto", "2026-07-28"},
		"Python 2, legacy":     {python(1), "legacy", "2025-11-25"},
		"JavaScript 1":         {node("client.mjs", "@modelcontextprotocol/sdk"), "", "2025-11-25"},
		"JavaScript 2":         {node("client.mjs", "@modelcontextprotocol/client"), "auto", "2026-07-28"},
		"JavaScript 2, legacy": {node("client.mjs", "@modelcontextprotocol/client"), "legacy", "2025-11-25"},
	} {
		t.Run(name, func(t *testing.T) { testMCPClient(t, append(c.command(t), c.mode), c.version) })
		t.Run(name+" over HTTP", func(t *testing.T) { testHTTPClient(t, append(c.command(t), c.mode), c.version) })
	}
	for name, command := range map[string]func(t *testing.T) []string{
		"Inspector 1": node("node_modules/inspector1/cli/build/cli.js"),
		"Inspector 2": node("node_modules/inspector2/clients/launcher/build/index.js"),
	} {
		t.Run(name, func(t *testing.T) { testInspector(t, command(t)) })
	}
	t.Run("conformance", func(t *testing.T) { testConformance(t, node("node_modules")(t)) })
	t.Run("configuration", func(t *testing.T) {
		testURLConfig(t, node("node_modules/inspector2/clients/launcher/build/index.js")(t))
	})
}

// installNPM installs npm's clients into a directory. The error says why that failed.
func installNPM(t *testing.T) (dir string, err error) {
	if out, err := exec.Command("npm", "ping").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	dir = t.TempDir()
	install := exec.Command("npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--prefix", dir}, npmClients...)...)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program, err := os.ReadFile("testdata/mcpclients/client.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "client.mjs"), program, 0o600) // the client imports packages from its own directory
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, nil
}

// testMCPClient performs the steps with a client, which is a command.
func testMCPClient(t *testing.T, words []string, version string) {
	s := pyplug(t, nil, "mcp", clientTools)
	c := newMCPClient(t, words, s.Args, s.Env, version)
	c.steps(s.marker)
	c.close()
}

// mcpClient is a running client.
type mcpClient struct {
	*exec.Cmd
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	errs bytes.Buffer
}

// newMCPClient starts a client that connects to a server, which is a command or a URL.
func newMCPClient(t *testing.T, words, server, env []string, version string) *mcpClient {
	t.Helper()
	c := &mcpClient{Cmd: exec.CommandContext(t.Context(), words[0], slices.Concat(words[1:], server)...), t: t}
	c.Env, c.Stderr = env, &c.errs
	in, out := talking(t, c.Cmd)
	c.in, c.out = in, bufio.NewReader(out)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%q\nerr: %s", c.Args, &c.errs)
		}
	})
	c.expect("the start", version)
	return c
}

// starting matches a progress message, which a first call has only on a busy machine.
var starting = regexp.MustCompile(`"the plugin is starting",?`)

// answer returns the next line of the client.
func (c *mcpClient) answer() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Error(err)
	}
	return starting.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
}

// do performs a step, and returns the client's answer.
func (c *mcpClient) do(step string) string {
	c.t.Helper()
	fmt.Fprintln(c.in, step)
	return c.answer()
}

func (c *mcpClient) expect(step, want string) {
	c.t.Helper()
	if got := c.answer(); !strings.HasPrefix(got, want) {
		c.t.Errorf("%s gives %q, want %s", step, got, want)
	}
}

// steps performs clientSteps, and checks the answers.
func (c *mcpClient) steps(marker string) {
	for _, s := range clientSteps {
		fmt.Fprintln(c.in, strings.ReplaceAll(s.step, "MARKER", marker))
		c.expect(s.step, s.want)
	}
}

func (c *mcpClient) close() {
	c.in.Close()
	if err := c.Wait(); err != nil {
		c.t.Error(err)
	}
}

// testInspector lists and calls with the command line of an inspector.
func testInspector(t *testing.T, words []string) {
	for _, c := range []struct{ args, want string }{
		{"--method tools/list", `{"name":"later","description":"Put items off.","inputSchema":{"type":"object",`},
		{`--method tools/call --tool-name later --tool-arg items=[{"name":"a","due":"2026-01-31"}] --tool-arg days=2`, `"structuredContent":{"a":"2026-02-02"}`},
		{"--method tools/call --tool-name die", `exited during the call (exit code 3)"}],"isError":true`},
	} {
		s := pyplug(t, nil, "mcp", clientTools)
		inspector := exec.CommandContext(t.Context(), words[0], slices.Concat(words[1:], []string{"--cli"}, s.Args, strings.Fields(c.args))...)
		inspector.Env = append(s.Env, "PATH="+filepath.Dir(words[0])+":"+os.Getenv("PATH")) // the inspector starts node
		inspector.Stderr = &s.errs
		out, _ := inspector.Output() // the newer inspector exits with 5 after isError
		var got bytes.Buffer
		if err := json.Compact(&got, out); err != nil || !strings.Contains(got.String(), c.want) {
			t.Errorf("%s prints %s, want %s in it", c.args, out, c.want)
		}
	}
}

// TestMCPEras checks that one process answers modern requests, which have a version, and legacy
// requests in any order. The first call, before any list, has the same result as a later one.
func TestMCPEras(t *testing.T) {
	t.Parallel()
	s := pyplug(t, nil, "mcp", clientTools)
	in, out := talking(t, s.Cmd)
	m := &mcpSession{session: s, t: t, in: in, out: bufio.NewReader(out)}
	const modern, later = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, `"name":"later","arguments":{"items":[]}`
	first := m.ask("tools/call", "{"+later+","+modern+"}")
	m.ask("initialize", `{"protocolVersion":"2025-06-18"}`)
	for _, c := range []struct{ method, params, want string }{
		{"tools/call", "{" + later + "}", `"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}`},
		{"tools/list", "{" + modern + "}", `"result":{"resultType":"complete","tools":[{"name":"later",`},
		{"tools/list", "{}", `"result":{"tools":[{"name":"later",`},
		{"tools/call", "{" + later + "," + strings.Replace(modern, "2026-07-28", "2099-01-01", 1) + "}", `"error":{"code":-32022,`},
		{"tools/call", "{" + later + "," + strings.Replace(modern, "clientCapabilities", "other", 1) + "}", `"error":{"code":-32602,`},
		{"server/discover", "{" + modern + "}", `"supportedVersions":["2026-07-28"]`},
		{"ping", "{}", `"result":{}`},
		{"tools/call", "{" + later + "," + modern + "}", strings.TrimSpace(strings.TrimPrefix(first, `{"jsonrpc":"2.0","id":1,`))},
	} {
		if got := m.ask(c.method, c.params); !strings.Contains(got, c.want) {
			t.Errorf("%s %s gives %s, want %s in it", c.method, c.params, got, c.want)
		}
	}
	m.close()
}
