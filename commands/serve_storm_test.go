//go:build linux

package commands_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

const (
	stormCalls   = 3000
	stormClients = 16
	stormEach    = 100 // one of this many calls ends its process
)

// TestStorm makes calls of which one in a hundred ends its worker by SIGSEGV. With pyplug exactly
// these calls fail, with status 502. The test also logs the outcome with FastAPI on uvicorn and
// with functions-framework on gunicorn. All servers have two workers.
func TestStorm(t *testing.T) {
	if os.Getenv("PYPLUG_TEST_LONG") == "" {
		t.Skip("runs with PYPLUG_TEST_LONG=1")
	}
	python := runnertest.Packages(t, "fastapi==0.165.0", "uvicorn[standard]==0.54.0", "gunicorn==27.0.1", "functions-framework==3.10.2")
	dir, err := filepath.Abs("testdata/httpclients")
	if err != nil {
		t.Fatal(err)
	}
	peer := func(port int, words ...string) string {
		cmd := exec.Command(python, append([]string{"-m"}, words...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait() // it was killed
		})
		return fmt.Sprintf("http://127.0.0.1:%d", port)
	}
	ports := []int{freePort(t), freePort(t)}
	s := serveTCP(t, nil, "--listen", "127.0.0.1:0", "--drain", "0", "--workers", "2", "--quiet", filepath.Join(dir, "storm.py"))
	for _, server := range []struct{ name, url, path string }{
		{"pyplug", s.url, "/hooks/work"},
		{"uvicorn", peer(ports[0], "uvicorn", "--workers", "2", "--log-level", "critical", "--port", fmt.Sprint(ports[0]), "storm_peers:app"), "/hooks/work"},
		{"gunicorn", peer(ports[1], "gunicorn", "--workers", "2", "--threads", "8", "--log-level", "critical", "--bind", fmt.Sprintf("127.0.0.1:%d", ports[1]),
			"functions_framework:create_app('function', 'storm_peers.py')"), "/"},
	} {
		runnertest.Until(t, server.name+" answers", func() bool { return (&storm{url: server.url + server.path}).call(1, false) == http.StatusOK })
		storm := &storm{url: server.url + server.path}
		began := time.Now()
		storm.run()
		took := time.Since(began)
		slices.Sort(storm.took)
		t.Logf("%s: %d calls end their process, %d of them with 502; of the others %d fail; %.1f s, p99 of the others %.1f ms", server.name,
			stormCalls/stormEach, storm.crashed[http.StatusBadGateway], storm.failed, took.Seconds(), float64(storm.took[len(storm.took)*99/100].Microseconds())/1000)
		if server.name == "pyplug" && (storm.failed > 0 || storm.crashed[http.StatusBadGateway] != stormCalls/stormEach) {
			t.Errorf("%d calls fail, the statuses of those that end their process are %v", storm.failed, storm.crashed)
		}
	}
}

// storm is the calls to one server.
type storm struct {
	url    string
	client http.Client
	next   atomic.Int64

	mu      sync.Mutex
	crashed map[int]int     // statuses of the calls that end their process, or 0 without an answer
	failed  int             // number of failures among the other calls
	took    []time.Duration // durations of the other calls that succeeded
}

func (s *storm) run() {
	s.crashed = map[int]int{}
	s.client.Transport = &http.Transport{MaxIdleConnsPerHost: stormClients}
	defer s.client.CloseIdleConnections()
	var clients sync.WaitGroup
	for range stormClients {
		clients.Go(func() {
			for n := int(s.next.Add(1)); n <= stormCalls; n = int(s.next.Add(1)) {
				crash, began := n%stormEach == 0, time.Now()
				status := s.call(n, crash)
				s.mu.Lock()
				switch {
				case crash:
					s.crashed[status]++
				case status != http.StatusOK:
					s.failed++
				default:
					s.took = append(s.took, time.Since(began))
				}
				s.mu.Unlock()
			}
		})
	}
	clients.Wait()
}

// call returns the status of a call, or 0 if it has no right answer.
func (s *storm) call(n int, crash bool) int {
	resp, err := s.client.Post(s.url, "application/json", strings.NewReader(fmt.Sprintf(`{"n":%d,"crash":%t}`, n, crash)))
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusOK && strings.TrimSpace(string(text)) != fmt.Sprint(n*n) {
		return 0
	}
	return resp.StatusCode
}
