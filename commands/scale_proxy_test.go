//go:build linux

package commands_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/runnertest"
)

const (
	proxyClients = 8
	proxyCalls   = 10_000 // at least
	proxyPhase   = 2_000  // calls before and after a change
)

// versionedSource answers with its version, and logs the calls that begin.
const versionedSource = `
import os
log = open("calls", "a", buffering=1)
def square(n: int) -> list:
    log.write("%d\n" % n)
    return [n * n, "first"]
`

// TestProxies runs the configurations of docs/scale.md: three instances, each in a network of its
// own, behind HAProxy and nginx. Clients call over keep-alive connections, and workers are replaced
// every 10 calls. No call fails when one instance is stopped and started again, or when the file of
// another is edited. When an instance is killed, only the calls that were sent to it fail, and no
// call is made twice.
func TestProxies(t *testing.T) {
	if os.Getenv("PYPLUG_TEST_LONG") == "" {
		t.Skip("runs with PYPLUG_TEST_LONG=1")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make networks")
	}
	page, err := os.ReadFile("docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	example := func(pattern string) string { return regexp.MustCompile(pattern).FindStringSubmatch(string(page))[1] }
	command := strings.Fields(example("(?m)^pyplug (serve --listen .*)$"))
	command[slices.Index(command, "--max-calls")+1] = "10"
	command = append(command, "--quiet")
	for name, proxy := range map[string]func(dir string) (words []string, files map[string]string){
		"haproxy": func(dir string) ([]string, map[string]string) {
			return []string{"haproxy", "-db", "-f", filepath.Join(dir, "haproxy.cfg")}, map[string]string{"haproxy.cfg": example("(?s)```\n(defaults\n.*?)```")}
		},
		"nginx": func(dir string) ([]string, map[string]string) {
			text := "daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + example("(?s)```nginx\n(.*?)```") + "}\n"
			return []string{"nginx", "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf")}, map[string]string{"nginx.conf": text}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip("needs ", name)
			}
			dir := t.TempDir()
			words, files := proxy(dir)
			front, instances := newNetworks(t, 3)
			var all []*instance
			for _, n := range instances {
				all = append(all, newInstance(t, n, command))
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			front.run(t, words...)
			testProxy(t, front, all)
		})
	}
}

func testProxy(t *testing.T, front *network, all []*instance) {
	l := newLoad(front)
	runnertest.Until(t, "the proxy answers", func() bool { _, err := l.call(0); return err == nil })
	for range proxyClients {
		l.clients.Go(l.run)
	}
	defer func() {
		l.end()
		for _, i := range all {
			i.stop(t)
		}
	}()
	l.wait(t, proxyPhase)
	all[0].stop(t)
	l.wait(t, proxyPhase)
	all[0].start(t)
	edited := strings.Replace(versionedSource, "first", "edited", 1)
	if err := os.WriteFile(filepath.Join(all[1].dir, "square.py"), []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	all[1].restart(t)
	l.wait(t, proxyPhase)
	l.wait(t, proxyCalls-l.total())
	if failed := l.failures(); len(failed) > 0 || l.edited == 0 {
		t.Errorf("%d calls fail, %d got the edit: %v", len(failed), l.edited, failed)
	}
	t.Logf("%d calls while one instance was stopped and started, and one edited", l.total())

	before, early := l.total(), len(l.failures())
	_ = all[2].Process.Kill()
	_ = all[2].Wait() // it was killed
	l.wait(t, proxyPhase)
	all[2].start(t) // removes the files of the killed process
	l.wait(t, proxyPhase)
	l.end()
	failed := l.failures()[early:]
	t.Logf("%d of %d calls fail after a kill", len(failed), l.total()-before)
	if len(failed) > proxyClients {
		t.Errorf("%d calls fail, want one for each client at most: %v", len(failed), failed)
	}
	begun := map[string]int{}
	for _, i := range all {
		text, err := os.ReadFile(filepath.Join(i.dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range strings.Fields(string(text)) {
			begun[n]++
		}
	}
	for n, times := range begun {
		if times > 1 && n != "0" {
			t.Errorf("call %s was made %d times", n, times)
		}
	}
}

// network is a network namespace with the address 10.0.0.n, and the process that keeps it alive.
type network struct {
	keeper *exec.Cmd
	n      int
}

// newNetworks returns a network, and others that are linked with it.
func newNetworks(t *testing.T, number int) (front *network, others []*network) {
	front = newNetwork(t, 254)
	front.do(t, "ip", "link", "add", "bridge", "type", "bridge")
	front.do(t, "ip", "addr", "add", "10.0.0.254/24", "dev", "bridge")
	front.do(t, "ip", "link", "set", "bridge", "up")
	for i := range number {
		n := newNetwork(t, i+1)
		link := fmt.Sprintf("to%d", n.n)
		front.do(t, "ip", "link", "add", link, "type", "veth", "peer", "name", "front", "netns", fmt.Sprint(n.keeper.Process.Pid))
		front.do(t, "ip", "link", "set", link, "master", "bridge", "up")
		n.do(t, "ip", "addr", "add", fmt.Sprintf("10.0.0.%d/24", n.n), "dev", "front")
		n.do(t, "ip", "link", "set", "front", "up")
		others = append(others, n)
	}
	return front, others
}

func newNetwork(t *testing.T, i int) *network {
	t.Helper()
	n := &network{exec.Command("sleep", "infinity"), i}
	n.keeper.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := n.keeper.Start(); err != nil {
		t.Skip("needs networks of its own: ", err)
	}
	t.Cleanup(func() { _ = n.keeper.Process.Kill(); _ = n.keeper.Wait() })
	n.do(t, "ip", "link", "set", "lo", "up")
	return n
}

// in returns a command that runs in the network.
func (n *network) in(words ...string) []string {
	return append([]string{"nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", n.keeper.Process.Pid)}, words...)
}

func (n *network) do(t *testing.T, words ...string) {
	t.Helper()
	words = n.in(words...)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", words, err, out)
	}
}

// run starts a command in the network, and kills it when the test ends.
func (n *network) run(t *testing.T, words ...string) {
	t.Helper()
	words = n.in(words...)
	cmd := exec.Command(words[0], words[1:]...)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // it was stopped
		if t.Failed() {
			t.Logf("%q: %s", words, &errs)
		}
	})
}

// dial connects from the network.
func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	runtime.LockOSThread() // never unlocked: the thread stays in the network, and ends with its goroutine
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", n.keeper.Process.Pid))
	if err != nil {
		return nil, err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, kind, address)
}

// instance is a pyplug that serves in a network, with a directory of its own.
type instance struct {
	*session
	network *network
	command []string
	dir     string
	runDir  string
}

func newInstance(t *testing.T, n *network, command []string) *instance {
	t.Helper()
	i := &instance{network: n, command: command, dir: t.TempDir(), runDir: runDir(t)}
	if err := os.WriteFile(filepath.Join(i.dir, "square.py"), []byte(versionedSource), 0o600); err != nil {
		t.Fatal(err)
	}
	i.start(t)
	return i
}

func (i *instance) pyplug(t *testing.T, words ...string) *session {
	s := pyplug(t, []string{"PYPLUG_RUN_DIR=" + i.runDir}, words...)
	s.Dir = i.dir
	s.Args = i.network.in(append([]string{s.Path}, s.Args[1:]...)...)
	s.Path, s.Err = exec.LookPath(s.Args[0])
	return s
}

func (i *instance) start(t *testing.T) {
	t.Helper()
	i.session = i.pyplug(t, i.command...)
	readyLine(t, i.Cmd)
}

func (i *instance) stop(t *testing.T) {
	t.Helper()
	if err := i.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	i.ends(t, 0)
}

func (i *instance) restart(t *testing.T) {
	t.Helper()
	if s := i.pyplug(t, "restart", "square"); s.Run() != nil {
		t.Errorf("restart: %s", &s.errs)
	}
}

// load is clients that call through a proxy over keep-alive connections.
type load struct {
	client  http.Client
	clients sync.WaitGroup

	mu     sync.Mutex
	next   int // number of the next call
	done   int
	edited int // answers of the edited plugin
	ending bool
	failed []string
}

func newLoad(n *network) *load {
	return &load{client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: proxyClients, DialContext: func(ctx context.Context, kind, address string) (c net.Conn, err error) {
		dialed := make(chan struct{})
		go func() { // ends after the dial, and ends its thread
			defer close(dialed)
			c, err = n.dial(ctx, kind, address)
		}()
		<-dialed
		return c, err
	}}}, next: 1}
}

// run calls until the end.
func (l *load) run() {
	for {
		l.mu.Lock()
		n, ending := l.next, l.ending
		l.next++
		l.mu.Unlock()
		if ending {
			return
		}
		version, err := l.call(n)
		l.mu.Lock()
		l.done++
		if err != nil {
			l.failed = append(l.failed, err.Error())
		}
		if version == "edited" {
			l.edited++
		}
		l.mu.Unlock()
	}
}

// call returns the version that answered.
func (l *load) call(n int) (version string, err error) {
	req, err := http.NewRequest(http.MethodPost, "http://10.0.0.254/hooks/square", strings.NewReader(fmt.Sprintf("[%d]", n)))
	if err != nil {
		return "", err
	}
	req.Host = "api.example"
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("call %d: %w", n, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	var got []any
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(text, &got) != nil || got[0] != float64(n*n) {
		return "", fmt.Errorf("call %d: %d, %v: %s", n, resp.StatusCode, err, text)
	}
	return got[1].(string), nil
}

func (l *load) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}

func (l *load) failures() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.failed)
}

// wait waits for more calls.
func (l *load) wait(t *testing.T, more int) {
	t.Helper()
	for want := l.total() + more; l.total() < want; {
		before := l.total()
		runnertest.Until(t, "calls are answered", func() bool { return l.total() > before })
	}
}

// end stops the clients.
func (l *load) end() {
	l.mu.Lock()
	l.ending = true
	l.mu.Unlock()
	l.clients.Wait()
	l.client.CloseIdleConnections()
}
