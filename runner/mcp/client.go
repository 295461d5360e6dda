package mcp

import (
	"encoding/json"
	"os"
	"slices"
	"time"
)

// configs describes how clients configure servers: the key of the table, whether each entry has its
// transport, and the key of a URL. The latter is empty if the client's file has no URLs.
var configs = []struct {
	client, key string
	transport   bool
	url         string
}{
	{"claude-code", "mcpServers", true, "url"},
	{"claude-desktop", "mcpServers", false, ""},
	{"cursor", "mcpServers", false, "url"},
	{"gemini", "mcpServers", false, "httpUrl"},
	{"vscode", "servers", true, "url"},
}

// Clients lists the clients that [ClientConfig] knows.
func Clients() (names []string) {
	for _, c := range configs {
		names = append(names, c.client)
	}
	return names
}

// ClientConfig returns the configuration with which a client starts a command as the server with a
// name.
func ClientConfig(client, name, command string, args []string) string {
	c := configs[slices.Index(Clients(), client)]
	server := map[string]any{"command": command, "args": args}
	if c.transport {
		server["type"] = "stdio"
	}
	return entry(c.key, name, server)
}

// URLConfig returns the configuration with which a client connects to a server over HTTP. It
// contains a placeholder for the token. It returns false if the client's configuration has no URLs.
func URLConfig(client, name, url string) (text string, ok bool) {
	c := configs[slices.Index(Clients(), client)]
	if c.url == "" {
		return "", false
	}
	server := map[string]any{c.url: url, "headers": map[string]string{"Authorization": "Bearer TOKEN"}}
	if c.transport {
		server["type"] = "http"
	}
	return entry(c.key, name, server), true
}

// entry returns a table with one server.
func entry(key, name string, server map[string]any) string {
	text, _ := json.MarshalIndent(map[string]any{key: map[string]any{name: server}}, "", "  ") // text and lists of text can always be encoded
	return string(text)
}

const (
	// launcherTime is the time after the start within which an exited parent counts as a launcher,
	// such as npx, rather than as the client.
	launcherTime = time.Second
	// parentEvery is the interval between two checks of the parent.
	parentEvery = 250 * time.Millisecond
)

// ParentGone returns a channel that is closed when the client that started this process has exited.
// The input may not end in this case, because another process may hold it open.
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
