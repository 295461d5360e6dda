package mcp

import (
	"encoding/json"
	"os"
	"slices"
	"time"
)

// configs say how the clients name their servers: the key of the table, and whether each entry
// names its transport.
var configs = []struct {
	client, key string
	transport   bool
}{
	{"claude-code", "mcpServers", true},
	{"claude-desktop", "mcpServers", false},
	{"cursor", "mcpServers", false},
	{"gemini", "mcpServers", false},
	{"vscode", "servers", true},
}

// Clients lists the clients that [ClientConfig] knows.
func Clients() (names []string) {
	for _, c := range configs {
		names = append(names, c.client)
	}
	return names
}

// ClientConfig returns the configuration with which a client starts a command as the server of a
// name.
func ClientConfig(client, name, command string, args []string) string {
	c := configs[slices.Index(Clients(), client)]
	server := map[string]any{"command": command, "args": args}
	if c.transport {
		server["type"] = "stdio"
	}
	text, _ := json.MarshalIndent(map[string]any{c.key: map[string]any{name: server}}, "", "  ") // text and lists of it
	return string(text)
}

const (
	// launcherTime is the time after the start within which a parent that exits was a launcher,
	// such as npx, and not the client.
	launcherTime = time.Second
	// parentEvery is the interval between two checks of the parent.
	parentEvery = 250 * time.Millisecond
)

// ParentGone returns a channel that is closed when the client that started this process has
// exited. The input need not end then: another process may hold it open.
func ParentGone() <-chan struct{} {
	gone, parent := make(chan struct{}), os.Getppid()
	go func() { // ends with the parent or with this process
		time.Sleep(launcherTime)
		if os.Getppid() != parent {
			return
		}
		for os.Getppid() == parent {
			time.Sleep(parentEvery)
		}
		close(gone)
	}()
	return gone
}
