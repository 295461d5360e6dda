package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// mcpShapes say how the clients name their servers: the key of the table, and whether each entry
// names its transport.
var mcpShapes = []struct {
	client, key string
	transport   bool
}{
	{"claude-code", "mcpServers", true},
	{"claude-desktop", "mcpServers", false},
	{"cursor", "mcpServers", false},
	{"gemini", "mcpServers", false},
	{"vscode", "servers", true},
}

func mcpClients() (names []string) {
	for _, s := range mcpShapes {
		names = append(names, s.client)
	}
	return names
}

// mcpConfig prints the entry of a client's configuration that starts this server. Clients start it
// with a bare PATH, and anywhere.
func (f *program) mcpConfig(ctx context.Context, client, word string, flags []cli.Flag) error {
	program, err := os.Executable()
	if err != nil {
		return hook.NewError(hook.Internal, fmt.Errorf("the path of pyplug: %w", err))
	}
	dir, err := os.Getwd()
	if err != nil {
		return usage("the current directory: %w", err)
	}
	args := []string{"mcp"}
	inDir := false // the working directory is given, or the plugin has one of its own
	for _, one := range flags {
		flag := valueOf(one)
		if flag.Name == "config" || !flag.typed {
			continue
		}
		inDir = inDir || slices.Contains([]string{"cwd", "auto-start"}, flag.Name)
		for _, text := range flag.texts {
			isPath := flag.files != "" && (flag.Name != "python" || strings.ContainsAny(text, `/\`))
			if isPath && !filepath.IsAbs(text) {
				text = filepath.Join(dir, text)
			}
			args = append(args, "--"+flag.Name+"="+text)
		}
	}
	entry := word
	running, _ := f.connectNamed(ctx, word)
	if _, isModule := manifest.ModuleOf(word); !isModule && running == nil {
		if entry, err = filepath.Abs(word); err != nil {
			return usage("%s: %w", word, err)
		}
		if _, err := os.Stat(entry); err != nil {
			return usage("%s: %w", word, err)
		}
		if !inDir {
			args = append(args, "--cwd="+dir)
		}
	}
	shape := mcpShapes[slices.Index(mcpClients(), client)]
	server := struct {
		Type    string   `json:"type,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{Command: program, Args: append(args, typedWords([]string{entry})...)}
	if shape.transport {
		server.Type = "stdio"
	}
	text, err := json.MarshalIndent(map[string]any{shape.key: map[string]any{mcpName(word): server}}, "", "  ")
	if err != nil {
		return hook.NewError(hook.Internal, err)
	}
	return f.write(ctx, func() error { return f.streams.Line(string(text)) })
}
