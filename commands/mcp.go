package commands

import (
	"context"
	"fmt"
	neturl "net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

const mcpCategory = "Model Context Protocol"

// mcpDefaults are the defaults of a plugin that runs for one session. The concurrency lets
// coroutines overlap. The stop timeout is short, because a client waits for the end of its server.
var mcpDefaults = settings.Settings{Concurrency: 8, Timeouts: settings.Timeouts{Stop: 300 * time.Millisecond}}

// mcpOptions are the options of mcp.
type mcpOptions struct {
	start  startOptions
	client string // the client whose configuration is printed, or empty to serve
	url    string // the server's URL in that configuration, or empty if the client starts the server
	filter mcp.Filter
}

func mcpCommand(prog *program) command {
	var o mcpOptions
	o.start.Config.Defaults = mcpDefaults
	o.start.own = launchFlags(&o.start.Config)
	autoStart := cmdline.InCategory(backgroundCategory, cmdline.Switch(&o.start.AutoStarted, "auto-start", "share the background plugin of PLUGIN, and start it if it is not running"))
	config := cmdline.Choice(&o.client, "config", "print the configuration of `CLIENT`, with absolute paths: "+strings.Join(mcp.Clients(), ", "), mcp.Clients()...)
	url := cmdline.New("url", "print a configuration for serve --listen at `URL`, such as http://127.0.0.1:8080/mcp", func(text string) error {
		if u, err := neturl.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("is %q, expected a URL such as http://127.0.0.1:8080/mcp", text)
		}
		o.url = text
		return nil
	})
	own := cmdline.InCategory(mcpCategory, config, url,
		patternFlag(&o.filter.Only, "only", "offer only the hooks that match `PATTERN`, such as 'get_*'"),
		patternFlag(&o.filter.Except, "except", "do not offer the hooks that match `PATTERN`"))
	flags := slices.Concat(settingFlags(&o.start.Config, settings.Call), own, autoStart, o.start.own, prog.opts.flags()[1:]) // without --json, because standard output has the messages of the protocol
	return newCommand("mcp", "serve the hooks as tools of an LLM client", "NAME|PLUGIN",
		flags, func(ctx context.Context, words []string) error {
			err := cmdline.WantWords(words, "PLUGIN")
			switch {
			case err != nil:
				return err
			case o.url != "":
				return prog.mcpURLConfig(ctx, o.client, o.url, words[0])
			case o.client != "":
				return prog.mcpConfig(ctx, &o, words[0], flags)
			case o.start.Config.NaN == "literal":
				return cmdline.Usage("--nan is literal, expected error or null: a result of mcp is JSON, which has no NaN")
			}
			return prog.mcp(ctx, &o, words[0])
		})
}

// patternFlag declares a flag with a pattern of names. It may be given more than once.
func patternFlag(to *[]string, name, usage string) *cmdline.Flag {
	return cmdline.New(name, usage, func(pattern string) error {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("is %q, expected a pattern of names such as get_*", pattern)
		}
		*to = append(*to, pattern)
		return nil
	}).Repeat()
}

// mcp serves one session of a background plugin, or of a plugin that ends with the session.
func (prog *program) mcp(ctx context.Context, o *mcpOptions, word string) error {
	named, err := prog.connectNamed(ctx, word)
	if err != nil {
		return err
	}
	if named != nil && !o.start.AutoStarted {
		err = named.rejects(o.start.own)
	}
	if err == nil {
		err = o.start.read(word)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var server *mcp.Server
	entry, files := word, &o.start.Config // the sources of the list of hooks while the plugin does not run
	shared := &sharedSource{prog: prog, o: o, word: word, running: named}
	var s mcpSource = shared
	switch {
	case o.start.AutoStarted:
		o.start.Config.Defaults = settings.Settings{} // the same as for start
	case named != nil:
		entry, files = string(named.Identity().Entry), &plan.Config{}
	default:
		if s, err = prog.newSession(ctx, o.start.Config, func(p mcp.Plugin) { server.Reload(ctx, p) }); err != nil {
			return err
		}
	}
	var instructions string
	if p, err := manifest.Resolve(entry, ""); err == nil { // the start reports an error
		o.filter.Hints, instructions = mcp.Hints(p.Manifest.MCP), runner.Docstring(p)
	}
	if prog.streams.InTerminal() {
		prog.streams.Note("waiting for the messages of an LLM client on standard input; --config CLIENT prints the entry for its configuration")
	}
	server = mcp.New(mcp.Options{
		In: prog.streams.In, Out: prog.streams.Out, Filter: o.filter, Name: mcpName(word), Version: versionText(), Instructions: instructions,
		Plugin: s.plugin, Error: s.complete, Gone: mcp.ParentGone(),
		Kept:   func(ctx context.Context) ([]schema.Hook, bool) { return runner.KeptHooks(ctx, *files) },
		Source: func(ctx context.Context) []schema.Hook { return runner.SourceHooks(ctx, *files) },
		Keep: func(hooks []schema.Hook) {
			if err := runner.KeepHooks(ctx, *files, hooks); err != nil {
				prog.streams.Log("info", "the list of hooks was not stored: "+err.Error())
			}
		},
	})
	if s == shared {
		go shared.follow(ctx, server) // ends with ctx
	}
	server.Run(ctx)
	cancel()
	s.close()
	return nil // even after a signal, because a client may stop its server with one
}

// mcpName is the name of the server.
func mcpName(word string) string {
	if module, ok := manifest.ModuleOf(word); ok {
		return module
	}
	absolute, _ := filepath.Abs(word)
	return strings.TrimSuffix(filepath.Base(absolute), ".py")
}

// mcpConfig prints the entry of a client's configuration that starts this server. It contains
// absolute paths, because clients start the server in any directory and with a short PATH.
func (prog *program) mcpConfig(ctx context.Context, o *mcpOptions, word string, flags cmdline.Flags) error {
	program, err := os.Executable()
	if err != nil {
		return hook.NewError(hook.Internal, fmt.Errorf("the path of pyplug: %w", err))
	}
	dir, err := os.Getwd()
	if err != nil {
		return cmdline.Usage("the current directory: %w", err)
	}
	args, python := []string{"mcp"}, o.shellPython(ctx, word)
	inDir := false // whether a flag sets the working directory, or the daemon has its own
	for _, one := range flags {
		flag := cmdline.FlagOf(one)
		if flag.Name == "config" || flag.Name == "python" && python != "" || !flag.Typed {
			continue
		}
		inDir = inDir || slices.Contains([]string{"cwd", "auto-start"}, flag.Name)
		for _, text := range flag.Texts {
			isPath := flag.IsFile && (flag.Name != "python" || strings.ContainsAny(text, `/\`))
			if isPath && !filepath.IsAbs(text) {
				text = filepath.Join(dir, text)
			}
			args = append(args, "--"+flag.Name+"="+text)
		}
	}
	entry := word
	if python != "" {
		args = append(args, "--python="+python)
	}
	running, _ := prog.connectNamed(ctx, word)
	if _, isModule := manifest.ModuleOf(word); !isModule && running == nil {
		if entry, err = filepath.Abs(word); err != nil {
			return cmdline.Usage("%s: %w", word, err)
		}
		if _, err := os.Stat(entry); err != nil {
			return cmdline.Usage("%s: %w", word, err)
		}
	}
	if running == nil && !inDir {
		args = append(args, "--cwd="+dir)
	}
	text := mcp.ClientConfig(o.client, mcpName(word), program, append(args, manifest.TypedWords([]string{entry})...))
	return prog.write(ctx, func() error { return prog.streams.Line(text) })
}

// shellPython returns the Python of a plugin if the choice depends on the environment of this
// shell. The client lacks that environment, and would choose another Python or none. shellPython
// returns "" otherwise, and for a background plugin.
func (o *mcpOptions) shellPython(ctx context.Context, word string) string {
	cfg := o.start.Config
	if openConfig(&cfg, word) != nil {
		return ""
	}
	k, err := runner.Open(ctx, cfg)
	if err != nil {
		return ""
	}
	cfg.Environ = nil
	other, err := runner.Open(ctx, cfg)
	if here := k.Interpreter().Path; err != nil || here != other.Interpreter().Path {
		return here
	}
	return ""
}

// mcpURLConfig prints the entry of a client's configuration that connects to a server over HTTP.
func (prog *program) mcpURLConfig(ctx context.Context, client, url, word string) error {
	if client == "" {
		return cmdline.Usage("--url applies only with --config")
	}
	text, ok := mcp.URLConfig(client, mcpName(word), url)
	if !ok {
		return cmdline.Usage("the configuration of %s has no URLs: add the server in its settings, as a connector", client)
	}
	return prog.write(ctx, func() error { return prog.streams.Line(text) })
}

// mcpSource provides the plugin of a session.
type mcpSource interface {
	// The first two are used in [mcp.Options].
	plugin(ctx context.Context) (mcp.Plugin, error)
	complete(err error) *hook.Error
	// close stops the plugin if it belongs to the session.
	close()
}

// sharedSource is a background plugin, which other sessions and commands may also call.
type sharedSource struct {
	prog *program
	o    *mcpOptions
	word string

	mu      sync.Mutex  // protects running
	running *background // nil if not connected
}

// plugin connects to the running plugin. With --auto-start it starts the plugin first.
func (s *sharedSource) plugin(ctx context.Context) (mcp.Plugin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	s.running = p
	cfg := s.o.start.Config
	return hook.Limited{Plugin: p, Limit: cfg.Timeouts.Call}, nil
}

func (s *sharedSource) connect(ctx context.Context) (*background, error) {
	if s.running != nil {
		p, err := s.prog.connectTo(ctx, s.running.Identity().Name, s.word)
		if err == nil || !s.o.start.AutoStarted || !isNotRunning(err) {
			return p, err
		}
	}
	return s.prog.callee(ctx, target{word: s.word, start: s.o.start})
}

// reconnectEvery is the interval at which a session checks whether a stopped plugin runs again.
const reconnectEvery = time.Second

func (s *sharedSource) follow(ctx context.Context, server *mcp.Server) {
	for ctx.Err() == nil {
		s.mu.Lock()
		p := s.running
		s.mu.Unlock()
		if p != nil {
			if now, err := s.prog.connectTo(ctx, p.Identity().Name, s.word); err == nil {
				p = now
				server.Reload(ctx, p)
			}
			for e, err := range p.Events(ctx) {
				if err == nil && e.To == hook.StateReady {
					server.Reload(ctx, p)
				}
			}
		}
		hook.Within(ctx.Done(), reconnectEvery)
	}
}

// complete completes an error.
func (s *sharedSource) complete(err error) *hook.Error {
	e := *hook.AsError(err)
	if isNotRunning(&e) {
		e.Hints = schema.Hints("ask the user to start it with %s", schema.Command{"start", s.word})
	}
	return &e
}

func (s *sharedSource) close() {}
