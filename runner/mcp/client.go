package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// configs say how each client's file names its servers. key is the key of their table. command and
// http are the value of "type" for a command and for a URL. url is the key of a URL. A field is ""
// if the file has no such key. Codex uses TOML.
var configs = []struct {
	client, key, command, http, url string
}{
	{"claude", "mcpServers", "stdio", "http", "url"}, // the name of Claude Code's command
	{"claude-code", "mcpServers", "stdio", "http", "url"},
	{"claude-desktop", "mcpServers", "", "", ""},
	{"cline", "mcpServers", "", "streamableHttp", "url"},
	{codex, "mcp_servers", "", "", "url"},
	{"cursor", "mcpServers", "", "", "url"},
	{"gemini", "mcpServers", "", "", "httpUrl"},
	{"vscode", "servers", "stdio", "http", "url"},
	{"windsurf", "mcpServers", "", "", "serverUrl"},
	{"zed", "context_servers", "", "", "url"},
}

const codex = "codex"

// Clients lists the clients that [ClientConfig] knows.
func Clients() (names []string) {
	for _, c := range configs {
		names = append(names, c.client)
	}
	return names
}

// ClientConfig returns the configuration with which a client starts a command. name is the client's
// name for this server.
func ClientConfig(client, name, command string, args []string) string {
	c := configs[slices.Index(Clients(), client)]
	if client == codex {
		return fmt.Sprintf("[%s.%s]\ncommand = %s\nargs = %s", c.key, tomlKey(name), text(command), text(args))
	}
	return entry(c.key, name, struct { // the order of the keys in the JSON: people look for the command first
		Type    string   `json:"type,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{c.command, command, args})
}

// URLConfig returns the configuration with which a client connects to a server over HTTP. A
// placeholder stands for the token. It returns false if the client's configuration has no URLs.
func URLConfig(client, name, url string) (config string, ok bool) {
	c := configs[slices.Index(Clients(), client)]
	switch {
	case c.url == "":
		return "", false
	case client == codex:
		return fmt.Sprintf("[%s.%s]\nurl = %s\nhttp_headers = { Authorization = \"Bearer TOKEN\" }", c.key, tomlKey(name), text(url)), true
	}
	server := map[string]any{c.url: url, "headers": map[string]string{"Authorization": "Bearer TOKEN"}}
	if c.http != "" {
		server["type"] = c.http
	}
	return entry(c.key, name, server), true
}

// entry returns a table with one server.
func entry(key, name string, server any) string {
	config, _ := json.MarshalIndent(map[string]any{key: map[string]any{name: server}}, "", "  ") // texts and lists of texts can always be encoded
	return string(config)
}

// text returns a text or a list of texts as JSON, which TOML reads, too.
func text(value any) string {
	line, _ := hook.Marshal(value) // cannot fail: value is a string or a list of strings
	return string(line)
}

// tomlKey returns a key of a table, in quotes if it needs them.
func tomlKey(name string) string {
	plain := func(r rune) bool {
		return r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return name
	}
	return text(name)
}
