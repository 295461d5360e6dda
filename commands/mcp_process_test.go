//go:build linux

package commands_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pyplug/pyplug/runner/runnertest"
)

const mcpPlugin = `
import asyncio, os, pathlib, subprocess, sys, time
def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b
def noise():
    print("printed")
    os.write(1, b"written\n")
    subprocess.run(["echo", "child"])
    sys.__stdout__.write("dunder")
    return {"ok": True}
def die(): os._exit(3)
def fail(): raise ValueError("no") from KeyError("x")
def nap(marker: str):
    pathlib.Path(marker).touch()
    time.sleep(600)
async def meet(mine: str, other: str):
    pathlib.Path(mine).touch()
    while not os.path.exists(other): await asyncio.sleep(0.01)
    return "met"
def stream(n: int):
    for i in range(n): yield i
`

// mcpSession is a session of pyplug mcp, with both ends of its streams.
type mcpSession struct {
	*session
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	last int // the last id
}

// mcpOf begins a session of the legacy protocol.
func mcpOf(t *testing.T, env []string, words ...string) *mcpSession {
	t.Helper()
	s := pyplug(t, env, append([]string{"mcp"}, words...)...)
	in, out := talking(t, s.Cmd)
	m := &mcpSession{session: s, t: t, in: in, out: bufio.NewReader(out)}
	m.ask("initialize", `{"protocolVersion":"2025-11-25"}`)
	return m
}

func (m *mcpSession) send(line string) {
	m.t.Helper()
	if _, err := io.WriteString(m.in, line+"\n"); err != nil {
		m.t.Fatal(err)
	}
}

// begin sends a request, and returns its id.
func (m *mcpSession) begin(method, params string) int {
	m.t.Helper()
	m.last++
	m.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, m.last, method, params))
	return m.last
}

// next reads one line, which must be a message.
func (m *mcpSession) next() string {
	m.t.Helper()
	line, err := m.out.ReadString('\n')
	var message struct {
		JSONRPC string `json:"jsonrpc"`
	}
	if err != nil || json.Unmarshal([]byte(line), &message) != nil || message.JSONRPC != "2.0" {
		m.t.Fatalf("read %q, %v", line, err)
	}
	return line
}

// ask sends a request and returns the answer.
func (m *mcpSession) ask(method, params string) string {
	m.t.Helper()
	return m.answer(m.begin(method, params))
}

// answer returns the answer to a request. It drops earlier notifications.
func (m *mcpSession) answer(id int) string {
	m.t.Helper()
	for {
		if line := m.next(); strings.Contains(line, fmt.Sprintf(`"id":%d,`, id)) {
			return line
		}
	}
}

// call calls a tool, and checks that the answer contains a text.
func (m *mcpSession) call(tool, args, want string) {
	m.t.Helper()
	if got := m.ask("tools/call", `{"name":"`+tool+`","arguments":`+args+`}`); !strings.Contains(got, want) {
		m.t.Errorf("%s answers %s, want %s in it", tool, got, want)
	}
}

// cancel cancels a request.
func (m *mcpSession) cancel(id int) {
	m.t.Helper()
	m.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
}

// meet makes two calls that end only if they overlap.
func (m *mcpSession) meet() {
	m.t.Helper()
	a, b := m.marker+"a", m.marker+"b"
	m.begin("tools/call", fmt.Sprintf(`{"name":"meet","arguments":{"mine":%q,"other":%q}}`, a, b))
	m.begin("tools/call", fmt.Sprintf(`{"name":"meet","arguments":{"mine":%q,"other":%q}}`, b, a))
	if got := m.next() + m.next(); strings.Count(got, `"text":"met"`) != 2 {
		m.t.Errorf("got %s", got)
	}
}

// close ends the input, and waits for the end.
func (m *mcpSession) close() {
	m.t.Helper()
	m.in.Close()
	m.ends(m.t, 0)
}

// writePlugin writes a plugin of a test.
func writePlugin(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.py")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMCPClient calls a plugin with the official client, modern and legacy. Whatever the plugin
// prints, and however it ends, standard output has only messages.
func TestMCPClient(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := pyplug(t, nil, "mcp", writePlugin(t, mcpPlugin))
			s.Stdout = nil
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
			cs, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: s.Cmd}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			listed, err := cs.ListTools(t.Context(), nil)
			if err != nil || len(listed.Tools) != 7 || listed.Tools[0].Name != "add" || listed.Tools[0].Description != "Add numbers." {
				t.Errorf("got %+v, %v", listed, err)
			}
			for _, c := range []struct {
				tool string
				args map[string]any
				bad  bool
				want string
			}{
				{"add", map[string]any{"a": 1}, false, "3"},
				{"noise", nil, false, `{"ok":true}`},
				{"add", map[string]any{"a": "x"}, true, `a is "x", expected int`},
				{"fail", nil, true, "\n  caused by KeyError: 'x'"},
				{"die", nil, true, "the plugin exited during the call (exit code 3)"},
				{"add", map[string]any{"a": 2, "b": 5}, false, "7"},
				{"stream", map[string]any{"n": 3}, false, "0\n1\n2"},
			} {
				called, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
				if err != nil || called.IsError != c.bad || !strings.Contains(called.Content[0].(*sdk.TextContent).Text, c.want) {
					t.Errorf("%s(%v) is %+v, %v, want %q", c.tool, c.args, called, err, c.want)
				}
			}
		})
	}
}

// TestMCPCancel checks that a canceled call is interrupted and not answered, and that coroutines
// overlap.
func TestMCPCancel(t *testing.T) {
	t.Parallel()
	m := mcpOf(t, nil, writePlugin(t, mcpPlugin))
	id := m.begin("tools/call", `{"name":"nap","arguments":{"marker":"`+m.marker+`"}}`)
	runnertest.Until(t, "it sleeps", runnertest.Exists(m.marker))
	m.cancel(id)
	m.begin("tools/call", `{"name":"add","arguments":{"a":40}}`)
	if got := m.next(); !strings.Contains(got, `"text":"42"`) {
		t.Errorf("got %s", got)
	}
	m.meet()
	m.close()
}

// TestMCPEdit checks that a file that is broken at the start answers with its error, and recovers.
// An edit is live at the next call. A broken edit keeps the old tools.
func TestMCPEdit(t *testing.T) {
	t.Parallel()
	path := writePlugin(t, "def one(): return 1\ndef two(a, b=1): return 2\n1 +\n")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := mcpOf(t, nil, path)
	m.call("one", "{}", `SyntaxError`)
	if got := m.ask("tools/list", "{}"); !strings.Contains(got, `"error":{"code":-32603`) || !strings.Contains(got, "SyntaxError") {
		t.Errorf("got %s", got)
	}
	write("import nosuch\ndef one(): return 1\ndef two(a, b=1): return 2\n")
	m.call("one", "{}", `No module named 'nosuch'`)
	if got := m.ask("tools/list", "{}"); !strings.Contains(got, `"name":"two","inputSchema":{"additionalProperties":false,"properties":{"a":{},"b":`) {
		t.Errorf("got %s", got)
	}
	write("def one(): return 'works'\n")
	m.call("one", "{}", `"text":"works"`)
	if got := m.ask("tools/list", "{}"); strings.Contains(got, "two") {
		t.Errorf("got %s", got)
	}
	write("def one(): return 'edited'\ndef three(): return 3\n")
	m.begin("tools/call", `{"name":"three"}`)
	if got := m.next() + m.next(); !strings.Contains(got, `"text":"3"`) || !strings.Contains(got, "tools/list_changed") {
		t.Errorf("got %s", got)
	}
	write("def one(: return 'broken by an edit'\n")
	m.call("one", "{}", `"text":"edited"`)
	if got := m.ask("tools/list", "{}"); !strings.Contains(got, "three") {
		t.Errorf("got %s", got)
	}
	write("def four(): return 4  # and nobody calls\n")
	if got := m.next(); !strings.Contains(got, "tools/list_changed") {
		t.Errorf("got %s", got)
	}
	m.close()
}

// TestMCPKept checks that the list is available before Python is ready, because an earlier session
// stored it.
func TestMCPKept(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--auto-start"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			path, cache := writePlugin(t, "import os, time\nif os.environ.get('SLOW'): time.sleep(600)\ndef one(a: int): return 1\n"), t.TempDir()
			dir := runDir(t)
			env, words := []string{"XDG_CACHE_HOME=" + cache, "PYPLUG_RUN_DIR=" + dir}, append(flags, path)
			end := func(m *mcpSession) {
				if flags != nil { // the background plugin outlives the session
					runnertest.Until(t, "it is in the run directory", runnertest.Exists(filepath.Join(dir, "tools.json")))
					stop := pyplug(t, env, "stop", "--all")
					if err := stop.Run(); err != nil {
						t.Error(err)
					}
				}
				m.close()
				runnertest.Until(t, "nothing is left", func() bool { return len(runnertest.WithEnv(m.tag)) == 0 })
			}
			m := mcpOf(t, env, words...)
			want := m.ask("tools/list", "{}")
			runnertest.Until(t, "the list is kept", func() bool {
				found, _ := filepath.Glob(filepath.Join(cache, "pyplug", "hooks-*.json"))
				return len(found) == 1
			})
			end(m)
			m = mcpOf(t, append(env, "SLOW=1"), words...)
			if got := m.ask("tools/list", "{}"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			end(m)
		})
	}
}

// TestMCPEnds checks that, whatever ends the session, nothing is left. [pyplug] checks that.
func TestMCPEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(m *mcpSession){
		"the input ends":                   func(m *mcpSession) { m.in.Close() },
		"SIGTERM":                          func(m *mcpSession) { _ = m.Process.Signal(syscall.SIGTERM) },
		"nobody reads any more":            func(m *mcpSession) {},
		"it is killed":                     func(m *mcpSession) { _ = m.Process.Kill() },
		"a call that ignores an interrupt": func(m *mcpSession) { m.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := mcpPlugin
			if name == "a call that ignores an interrupt" {
				text = strings.Replace(text, "time.sleep(600)", "\n    while True:\n        try: time.sleep(600)\n        except BaseException: pass", 1)
			}
			s := pyplug(t, nil, "mcp", writePlugin(t, text))
			in, out := talking(t, s.Cmd)
			m := &mcpSession{session: s, t: t, in: in, out: bufio.NewReader(out)}
			m.ask("initialize", `{"protocolVersion":"2025-11-25"}`)
			m.begin("tools/call", `{"name":"nap","arguments":{"marker":"`+m.marker+`"}}`)
			runnertest.Until(t, "it sleeps", runnertest.Exists(m.marker))
			end(m)
			if name == "nobody reads any more" {
				out.Close()
				m.begin("ping", "{}")
			}
			_ = m.Wait()
			runnertest.Until(t, "nothing is left", func() bool { return len(runnertest.WithEnv(m.tag)) == 0 })
		})
	}
}

// TestMCPClientKilled checks that the session ends with its client, even if another process holds
// the pipe open.
func TestMCPClientKilled(t *testing.T) {
	t.Parallel()
	m, client := mcpUnder(t, writePlugin(t, mcpPlugin))
	_ = client.Process.Kill()
	_ = client.Wait()
	runnertest.Until(t, "nothing is left", func() bool { return len(runnertest.WithEnv(m.tag)) == 0 })
}

// mcpUnder begins a session whose parent is another process, its client. The test holds its pipes.
func mcpUnder(t *testing.T, plugin string) (m *mcpSession, client *exec.Cmd) {
	t.Helper()
	s := pyplug(t, nil, "mcp", plugin)
	pid := filepath.Join(t.TempDir(), "pid")
	client = exec.Command("sh", "-c", `exec 3<&0; "$@" <&3 & echo $! >`+pid+`; wait`, "sh", s.Path, s.Args[1], s.Args[2])
	client.Env = s.Env
	in, out := talking(t, client)
	m = &mcpSession{session: s, t: t, in: in, out: bufio.NewReader(out)}
	m.ask("initialize", `{"protocolVersion":"2025-11-25"}`)
	m.call("add", `{"a":1}`, `"text":"3"`)
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	server, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "the client is no launcher", func() bool { // pyplug treats a parent that outlives the first second as the client
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", server))
		fields := strings.Fields(string(stat))
		uptime, _ := os.ReadFile("/proc/uptime")
		now, _ := strconv.ParseFloat(strings.Fields(string(uptime))[0], 64)
		began, _ := strconv.ParseFloat(fields[21], 64)
		return now-began/100 > 1.5
	})
	return m, client
}

// TestMCPShared checks that sessions share a background plugin, and outlive its stop and start.
func TestMCPShared(t *testing.T) {
	t.Parallel()
	path, dir := writePlugin(t, mcpPlugin), runDir(t)
	env := []string{"PYPLUG_RUN_DIR=" + dir}
	run := func(words ...string) {
		t.Helper()
		s := pyplug(t, env, words...)
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		s.tag = "" // disables the check that no child process is left
	}
	run("start", path)
	defer run("stop", "--all")
	a, b := mcpOf(t, env, "tools"), mcpOf(t, env, "--auto-start", path)
	for _, m := range []*mcpSession{a, b} {
		m.call("add", `{"a":1}`, `"text":"3"`)
	}
	a.call("die", "{}", "exit code 3")
	b.call("add", `{"a":2}`, `"text":"4"`)
	run("stop", "tools")
	a.call("add", `{"a":1}`, `not running`)
	b.call("add", `{"a":3}`, `"text":"5"`) // starts the plugin
	a.call("add", `{"a":1}`, `"text":"3"`)
	a.close()
	b.close()
	run("stop", "tools")
	runnertest.Until(t, "the daemon has exited", func() bool { return len(runnertest.WithEnv(a.tag)) == 0 })
}

// TestMCPHints checks that the manifest describes the effects of tools.
func TestMCPHints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.py":    "def get(): return 1\ndef drop(): return 2\n",
		"pyplug.toml": "entry = 'tools.py'\n[mcp]\nread-only = ['g*']\ndestructive = ['drop']\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := mcpOf(t, nil, dir)
	got := m.ask("tools/list", "{}")
	for _, want := range []string{`"annotations":{"readOnlyHint":true,"destructiveHint":false}}`, `"annotations":{"destructiveHint":true}}`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	m.close()
}
