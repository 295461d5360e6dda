//go:build linux

package commands_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// TestKeepAttach checks that a host of go-plugin can attach with the printed line, call and leave,
// and that the plugin stays.
func TestKeepAttach(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	dir := filepath.Join(t.TempDir(), "kv")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "import grpc\nserve(\"SERVING\")\nprint(\"1|1|tcp|$ADDRESS|grpc\")\nhang()\n"
	if err := os.WriteFile(filepath.Join(dir, "plugin.py"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pyplug.toml"), []byte("entry = \"plugin.py\"\nid = \"example.com/test/kv\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := makeFake(dir); err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "PYPLUG_PYTHON=")
	k := d.keep("--name", "kv", dir)
	line := k.next(t)
	for range 2 {
		hostAttaches(t, line)
	}
	worker := d.worker("kv")
	if err := syscall.Kill(worker, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	again := k.next(t) // the line of the next generation
	if again == line {
		t.Errorf("it prints %s again", again)
	}
	hostAttaches(t, again)
	d.fails(2, "no other host can attach", "serve", "--mtls", dir)
	if out, errs, code := d.pyplug("start", "--json", "--name", "kv", dir); code != 0 || strings.TrimSpace(out) != again {
		t.Errorf("start says %q, exit code %d, want %q\n%s", out, code, again, errs)
	}
	if err := k.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	k.ends(t, 0)
}

// hostAttaches attaches a host of go-plugin as Terraform does, calls and leaves.
func hostAttaches(t *testing.T, line string) {
	t.Helper()
	var configs map[string]struct {
		Protocol        string
		ProtocolVersion int
		Pid             int
		Test            bool
		Addr            struct{ Network, String string }
	}
	if err := json.Unmarshal([]byte(line), &configs); err != nil {
		t.Fatal(err)
	}
	c, ok := configs["example.com/test/kv"]
	if !ok || !c.Test || c.Protocol != "grpc" {
		t.Fatalf("it says %s", line)
	}
	addr, err := net.ResolveTCPAddr(c.Addr.Network, c.Addr.String)
	if err != nil {
		t.Fatal(err)
	}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "K", MagicCookieValue: "V"},
		Plugins:         goplugin.PluginSet{"kv": &caller{}}, AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Reattach: &goplugin.ReattachConfig{Protocol: goplugin.ProtocolGRPC, ProtocolVersion: c.ProtocolVersion, Pid: c.Pid, Test: c.Test, Addr: addr},
		Logger:   hclog.NewNullLogger(),
	})
	defer client.Kill() // only disconnects, because Test is set
	protocol, err := client.Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := protocol.Ping(); err != nil {
		t.Error(err)
	}
	raw, err := protocol.Dispense("kv")
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.(*grpc.ClientConn).Invoke(t.Context(), "/zoo.Zoo/Echo", &emptypb.Empty{}, &emptypb.Empty{}); err != nil {
		t.Error(err)
	}
}

// caller is a plugin whose client is the connection itself.
type caller struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (*caller) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (*caller) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}
