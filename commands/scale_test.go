//go:build linux

package commands_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// squareSource is a plugin that logs its calls. On host2 the fifth call creates a marker, and then
// waits for the end of the host.
const squareSource = `
import os, time
calls = 0
def square(n: int) -> int:
    global calls
    calls += 1
    with open("calls", "a") as f:
        f.write("%d\n" % n)
    if calls == 5 and os.environ["HOST"] == "host2":
        with open("busy", "w") as f:
            f.write("%d" % (n - 1))
        os.rename("busy", "marker")
        time.sleep(100)
    return n * n
`

// TestScale runs the example of docs/scale.md: GNU parallel distributes parts of the input to two
// hosts, which are real SSH servers here, and one of them dies. Every line has its answer, and only
// the interrupted call is repeated.
func TestScale(t *testing.T) {
	if os.Getenv("PYPLUG_TEST_LONG") == "" {
		t.Skip("runs with PYPLUG_TEST_LONG=1")
	}
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("needs GNU parallel")
	}
	page, err := os.ReadFile("docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```sh\n(mkdir.*?)```").FindStringSubmatch(string(page))[1]
	example = strings.ReplaceAll(strings.ReplaceAll(example, "--block 10M", "--block 500"), "host1,host2", "1/host1,1/host2")

	const total = 1000
	dir, servers, ssh := sshHosts(t, "host1", "host2")
	var in, want strings.Builder
	for n := 1; n <= total; n++ {
		fmt.Fprintln(&in, n)
		fmt.Fprintln(&want, n*n)
	}
	for name, text := range map[string]string{"square.py": squareSource, "numbers.jsonl": in.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", strings.Replace(example, "--lines", "--lines --raw", 1))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PARALLEL_SSH="+ssh, "PARALLEL_HOME="+dir)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "host2 is busy, and has recorded its answers", func() bool {
		last, err := os.ReadFile(filepath.Join(dir, "marker"))
		return err == nil && strings.Contains(recorded(t, dir), fmt.Sprintf(`"args":[%s],"result":`, last))
	})
	killTree(servers["host2"].Process.Pid)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &errs)
	}
	got, err := os.ReadFile(filepath.Join(dir, "answers.jsonl"))
	if err != nil || string(got) != want.String() {
		t.Errorf("%v, answers are\n%s", err, got)
	}
	if !strings.Contains(errs.String(), "note: 4 answers came from parts/") {
		t.Errorf("standard error is %s", &errs)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if n := strings.Count(string(calls), "\n"); err != nil || n != total+1 {
		t.Errorf("%v, %d calls, want %d", err, n, total+1)
	}
}

// recorded returns the records of all parts.
func recorded(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	parts, err := filepath.Glob(filepath.Join(dir, "parts", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// sshHosts starts an SSH server for each host. It returns the directory that the hosts share, the
// servers by host, and the command that reaches them by these names.
func sshHosts(t *testing.T, hosts ...string) (dir string, servers map[string]*exec.Cmd, ssh string) {
	t.Helper()
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("needs an SSH server")
	}
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if self.Uid == "0" { // the server drops its privileges there
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir, servers = t.TempDir(), map[string]*exec.Cmd{}
	if err := os.Symlink(program(t), filepath.Join(dir, "pyplug")); err != nil {
		t.Fatal(err)
	}
	key, client := filepath.Join(dir, "key"), filepath.Join(dir, "client")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names := "Host *\nHostName 127.0.0.1\nIdentityFile " + key + "\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\nBatchMode yes\n"
	for _, host := range hosts {
		port := freePort(t)
		names += fmt.Sprintf("Host %s\nPort %d\n", host, port)
		config := filepath.Join(dir, host)
		text := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s.pub\nPasswordAuthentication no\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"+
			"SetEnv HOST=%s PATH=%s:/usr/bin:/bin PYPLUG_PYTHON=%s PYPLUG_RUN_DIR=%s\n", port, key, key, host, dir, runnertest.Python(t), dir)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		server := exec.Command(sshd, "-D", "-e", "-f", config)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		servers[host] = server
		t.Cleanup(func() {
			killTree(server.Process.Pid)
			_ = server.Wait() // it was killed
		})
		runnertest.Until(t, host+" listens", func() bool {
			c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
	}
	if err := os.WriteFile(client, []byte(names), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, servers, "ssh -F " + client
}

// freePort returns a free port of this machine.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// killTree kills a process and its descendants.
func killTree(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP) // it starts no more processes
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, _ := os.ReadFile(stat) // it may have ended
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			killTree(child)
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
