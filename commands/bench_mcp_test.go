//go:build linux

package commands_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// mcpPeer is a way to serve a file with the tools add and die.
type mcpPeer struct {
	name, tag string
	start     func() *exec.Cmd
	// initialized, listed and first are times from the start of the process to an answer. warm are
	// times of a call. next are times from the answer to a call that ends the plugin to the next
	// answer.
	initialized, listed, first, warm, next []time.Duration
	one, five                              int // KiB, the sum of PSS
}

// serverHeads maps the packages that pyplug is compared with to the import of their server class.
var serverHeads = map[string]string{
	"mcp==1.30.0":     "from mcp.server.fastmcp import FastMCP",
	"mcp==2.3.0":      "from mcp.server.mcpserver import MCPServer",
	"fastmcp==2.14.7": "from fastmcp import FastMCP",
	"fastmcp==3.4.6":  "from fastmcp import FastMCP",
	"fastmcp==4.1.0":  "from fastmcp import FastMCP",
}

// BenchmarkMCP compares mcp with the servers of the Python SDK and of fastmcp, for a file that
// imports nothing and for one that imports pandas. All are measured alternately in one run:
//
//	go test -run '^$' -bench MCP -benchtime 10x ./commands
func BenchmarkMCP(b *testing.B) {
	pythons := map[string]string{}
	for p := range serverHeads {
		pythons[p] = runnertest.Packages(b, p, "pandas==3.1.1", "uv==0.13.9")
	}
	bin := binary(b)
	for _, module := range []string{"os", "pandas"} {
		b.Run(module, func(b *testing.B) { benchMCP(b, bin, module, pythons) })
	}
}

func benchMCP(b *testing.B, bin, module string, pythons map[string]string) {
	dir, peers := b.TempDir(), slices.Sorted(maps.Keys(pythons))
	env := append(os.Environ(), "PYPLUG_PYTHON="+pythons[peers[0]], "PYPLUG_RUN_DIR="+filepath.Join(dir, "run"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	tools := "import os, " + module + "\nTOOL\ndef add(a: int, b: int = 2) -> int: return a + b\nTOOL\ndef die(): os._exit(3)\n"
	plugin := benchFile(b, dir, "benched.py", strings.ReplaceAll(tools, "TOOL\n", ""))
	all := []*mcpPeer{newMCPPeer(env, "mcp PLUGIN", bin, "mcp", plugin), newMCPPeer(env, "mcp NAME", bin, "mcp", "benched")}
	start := exec.Command(bin, "start", plugin)
	start.Env = slices.Concat(env, []string{all[1].tag})
	if out, err := start.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	defer func() { _ = exec.Command("env", append(env, bin, "stop", "--all")...).Run() }()
	for _, p := range peers {
		text := serverHeads[p] + " as Server\nserver = Server('x')\n" + strings.ReplaceAll(tools, "TOOL", "@server.tool()") + "server.run()\n"
		all = append(all, newMCPPeer(env, p, pythons[p], benchFile(b, dir, p+".py", text)))
	}
	var versions []time.Duration
	for b.Loop() {
		versions = append(versions, timed(b, 0, bin, "version"))
		for _, p := range all {
			p.round(b, strings.Contains(p.name, "=="))
		}
	}
	for _, p := range all {
		p.memory(b)
	}
	b.Log(mcpTable(median(versions), all))
}

func newMCPPeer(env []string, name string, command ...string) *mcpPeer {
	p := &mcpPeer{name: name, tag: "PYPLUG_TEST_TAG=" + strings.ReplaceAll(name, " ", "") + fmt.Sprint(os.Getpid(), time.Now().UnixNano())}
	p.start = func() *exec.Cmd {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = slices.Concat(env, []string{p.tag})
		return cmd
	}
	return p
}

func benchFile(b *testing.B, dir, name, text string) string {
	b.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// ask sends a request and waits for its answer.
func ask(b *testing.B, in io.Writer, out *bufio.Reader, method, params string) {
	b.Helper()
	if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`+"\n", method, params); err != nil {
		b.Fatal(err)
	}
	if err := untilID(out); err != nil {
		b.Fatal(method, ": ", err)
	}
}

// untilID reads up to an answer.
func untilID(out *bufio.Reader) error {
	for {
		line, err := out.ReadString('\n')
		if err != nil || strings.Contains(line, `"id":7`) {
			return err
		}
	}
}

const (
	mcpHello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`
	mcpAdd   = `{"name":"add","arguments":{"a":1}}`
)

// round measures one session. dies reports whether the tool die ends the server itself, so that
// there is no next answer.
func (p *mcpPeer) round(b *testing.B, dies bool) {
	began := time.Now()
	cmd := p.start()
	in, pipe := talking(b, cmd)
	out := bufio.NewReader(pipe)
	ask(b, in, out, "initialize", mcpHello)
	p.initialized = append(p.initialized, time.Since(began))
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask(b, in, out, "tools/list", `{}`)
	p.listed = append(p.listed, time.Since(began))
	ask(b, in, out, "tools/call", mcpAdd)
	p.first = append(p.first, time.Since(began))
	for range 100 {
		began = time.Now()
		ask(b, in, out, "tools/call", mcpAdd)
		p.warm = append(p.warm, time.Since(began))
	}
	if !dies {
		ask(b, in, out, "tools/call", `{"name":"die","arguments":{}}`)
		began = time.Now()
		ask(b, in, out, "tools/call", mcpAdd)
		p.next = append(p.next, time.Since(began))
	}
	in.Close()
	_ = cmd.Wait()
}

// memory measures the memory of one session, and of five, each after a call.
func (p *mcpPeer) memory(b *testing.B) {
	for n := range 5 {
		cmd := p.start()
		in, pipe := talking(b, cmd)
		defer func() {
			in.Close()
			_ = cmd.Wait()
		}()
		out := bufio.NewReader(pipe)
		ask(b, in, out, "initialize", mcpHello)
		fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		ask(b, in, out, "tools/call", mcpAdd)
		switch n {
		case 0:
			p.one = pss(p.tag)
		case 4:
			p.five = pss(p.tag)
		}
	}
}

// pss returns the sum of the proportional set sizes of the processes with a tag, in KiB.
func pss(tag string) (sum int) {
	for _, pid := range runnertest.WithEnv(tag) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if _, after, ok := strings.Cut(string(text), "\nPss:"); ok {
			var kib int
			_, _ = fmt.Sscan(after, &kib)
			sum += kib
		}
	}
	return sum
}

func mcpTable(version time.Duration, peers []*mcpPeer) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	ms := func(all []time.Duration) string {
		if len(all) == 0 {
			return "dead"
		}
		return fmt.Sprintf("%.2f", float64(median(all).Microseconds())/1000)
	}
	fmt.Fprintf(w, "\npyplug version takes %.2f ms\n", float64(version.Microseconds())/1000)
	fmt.Fprintln(w, "ms\tinitialize\tlist\tfirst call\tcall\tnext after exit\tMiB: 1\t5 sessions")
	for _, p := range peers {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\n", p.name, ms(p.initialized), ms(p.listed), ms(p.first), ms(p.warm), ms(p.next), p.one>>10, p.five>>10)
	}
	w.Flush()
	return text.String()
}
