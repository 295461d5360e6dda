package grpcplugin_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestInPlugin starts a plugin while pyplug is itself a plugin of another host. The plugin must not
// get the variables that the outer host has set for pyplug.
func TestInPlugin(t *testing.T) {
	runnertest.NothingLeft(t)
	outer := handshake.Env(handshake.Host{Versions: []int{7}, ClientCert: "foo", SocketDir: "/nowhere"})
	outer = append(outer, "PLUGIN_TRANSPORTS=tcp", "PLUGIN_MULTIPLEX_GRPC=true", "PLUGIN_UNIX_SOCKET_GROUP=nobody")
	cfg := fake(t, "serve", "")
	cfg.Env = append(cfg.Env, outer...)
	inst := started(t, cfg)
	if _, err := inst.Call(t.Context(), words(t, "Echo", "text=hello")); err != nil {
		t.Error(err)
	}
	for _, entry := range outer {
		if name, _, _ := strings.Cut(entry, "="); !strings.Contains(strings.Join(handshake.Variables, " "), name) {
			t.Errorf("%s is not in Variables", name)
		}
	}
}

// TestLongTMPDIR checks that a socket's path is short enough even if TMPDIR is long.
func TestLongTMPDIR(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("plugins in Go are on tcp there")
	}
	runnertest.NothingLeft(t)
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	inst := started(t, fake(t, "serve", ""))
	dir := filepath.Dir(filepath.Dir(inst.Evidence().Line.Address))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(dir) != "/tmp" {
		t.Errorf("%s: %v, %v", dir, info, err)
	}
	inst.Stop(t.Context())
	proc.Close()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", dir, err)
	}
}
