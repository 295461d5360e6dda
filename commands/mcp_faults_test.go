//go:build linux

package commands_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

const mcpFaults = `
import atexit, asyncio, ctypes, os, pathlib, subprocess, sys, threading, time
print("imported")
libc = ctypes.CDLL(None)
atexit.register(os.write, 1, b"at the end\n")
def add(a: int, b: int = 2): return a + b
def segfault(): ctypes.string_at(0)
def eat():
    eaten = []
    while True: eaten.append(bytearray(10_000_000))
def noise(marker: str):
    libc.puts(b"a C library")
    libc.fflush(None)
    ctypes.pythonapi.PySys_WriteStdout(b"the C API\n")
    os.system("echo a shell")
    subprocess.Popen(["sh", "-c", "while [ ! -e $0 ]; do :; done; echo a child behind the answer", marker])
    thread = threading.Thread(target=print, args=("a thread",))
    thread.start()
    thread.join()
    return "noisy"
def sleep(marker: str):
    pathlib.Path(marker).touch()
    time.sleep(600)
def loop(marker: str):
    pathlib.Path(marker).touch()
    while True: pass
def c_code(marker: str):
    pathlib.Path(marker).touch()
    sum(range(10**13))
def meet(mine: str, other: str):
    pathlib.Path(mine).touch()
    while not os.path.exists(other): time.sleep(0.01)
    return "met"
async def later(): return "later"
def large(n: int): return "x" * n
`

// TestMCPFaults checks that, however a call ends, its answer says how, and the next call is
// answered.
func TestMCPFaults(t *testing.T) {
	t.Parallel()
	m := mcpOf(t, nil, "--max-memory", "300MB", writePlugin(t, mcpFaults))
	m.call("segfault", "{}", "the plugin exited during the call (SIGSEGV)")
	m.call("add", `{"a":1}`, `"text":"3"`)
	m.call("eat", "{}", "memory limit of 300 MB")
	m.call("add", `{"a":2}`, `"text":"4"`)
	for i, tool := range []string{"sleep", "loop", "c_code", "sleep", "c_code"} {
		if i == 3 {
			m.call("later", "{}", `"text":"later"`) // from now on, the worker has an event loop
		}
		marker := fmt.Sprint(m.marker, i)
		id := m.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"marker":%q}}`, tool, marker))
		runnertest.Until(t, "it runs", runnertest.Exists(marker))
		m.begin("tools/call", `{"name":"add","arguments":{"a":40}}`)
		m.cancel(id)
		if got := m.next(); !strings.Contains(got, `"text":"42"`) {
			t.Errorf("after %s: %s", tool, got)
		}
	}
	m.close()
}

// TestMCPThreads checks that plain functions overlap with --threads.
func TestMCPThreads(t *testing.T) {
	t.Parallel()
	m := mcpOf(t, nil, "--threads", writePlugin(t, mcpFaults))
	m.meet()
	m.close()
}

// TestMCPNoise checks that standard output has only messages, whatever is printed, with any flag.
// The plugin's output is on standard error.
func TestMCPNoise(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--debug", "wire"}, {"--threads", "-q"}, {"--workers", "2", "--preload", "off"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			m := mcpOf(t, nil, append(flags, writePlugin(t, mcpFaults))...)
			m.call("noise", `{"marker":"`+m.marker+`"}`, `"text":"noisy"`)
			if err := os.WriteFile(m.marker, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			m.call("add", `{"a":1}`, `"text":"3"`)
			m.in.Close()
			for {
				if _, err := m.out.Peek(1); err != nil {
					break
				}
				m.next()
			}
			m.ends(t, 0)
			for _, line := range []string{"imported", "a C library", "the C API", "a shell", "a thread"} {
				if shown := strings.Contains(m.errs.String(), line); shown == (len(flags) == 2 && flags[1] == "-q") {
					t.Errorf("%q is on standard error: %t", line, shown)
				}
			}
		})
	}
}

// TestMCPUnread checks that a client that reads nothing does not fill the memory: an unread result
// delays the start of the next call.
func TestMCPUnread(t *testing.T) {
	t.Parallel()
	m := mcpOf(t, nil, writePlugin(t, mcpFaults))
	const calls, size = 1000, 300_000
	for range calls {
		m.begin("tools/call", fmt.Sprintf(`{"name":"large","arguments":{"n":%d}}`, size))
	}
	const some = 20
	for range some {
		if got := m.next(); len(got) < size {
			t.Fatalf("got %.200s", got)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if kB, err := strconv.Atoi(string(peak[1])); err != nil || kB > 150<<10 {
		t.Errorf("the peak is %d MB, %v", kB>>10, err)
	}
	_ = m.Process.Signal(syscall.SIGTERM)
	_ = m.Wait()
}
