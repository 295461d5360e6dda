package plan

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/env"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// askLimit is the timeout of a Python that prints its version. A healthy Python takes milliseconds.
// The limit is short, because a wrapper that hangs may be tried under several names.
const askLimit = 10 * time.Second

// request returns the request for an interpreter.
func request(c Config, p manifest.Plugin, vars []string) interp.Request {
	m := p.Manifest
	if c.Untrusted { // the variables of a manifest are untrusted, too
		vars = environ(c, manifest.Manifest{})
	}
	return interp.Request{
		ForOthers: func(dir string) bool {
			found := env.Look(dir, p.Entry, p.Project.Dirs)
			return found.Made && !found.Listed
		},
		Sync:        syncLine(p, c.Python),
		Flag:        c.Python,
		Active:      c.Active,
		NoActive:    c.NoActive,
		Requires:    p.Requires,
		Manifest:    m.Python,
		ManifestDir: m.Dir,
		Entry:       p.Entry,
		Dirs:        p.Dirs,
		Project:     p.Project,
		Environ:     c.Environ,
		Cwd:         cmp.Or(c.Cwd, string(filepath.Separator)), // Cwd is empty if the directory was deleted
		Untrusted:   c.Untrusted,
		Run: func(ctx context.Context, path string, args []string) (stdout []byte, stderr string, err error) {
			out, err := proc.Run(ctx, proc.Tool{Path: path, Args: args, Env: vars, Limit: askLimit})
			if err == nil && out.Exit.Code != 0 {
				err = errors.New(hook.Exit(out.Exit).String())
			}
			return out.Stdout, string(out.Stderr), err
		},
	}
}

// shebangRequest returns a request for the Python of an executable that is a Python script.
func shebangRequest(c Config, p manifest.Plugin, env []string) (interp.Request, bool) {
	own := Config{Environ: c.Environ, Cwd: c.Cwd}
	own.Python = p.Shebang
	r := request(own, manifest.Plugin{}, env)
	if c.Untrusted {
		r.Run = nil
	}
	return r, p.Shebang != ""
}

// syncLine returns the command line that makes the plugin's environment. more contains further
// flags.
func syncLine(p manifest.Plugin, python string, more ...string) string {
	words := append([]string{"pyplug", "sync"}, more...)
	if python != "" {
		words = append(words, "--python", python)
	}
	if p.Module != "" {
		words = append(words, "-m", p.Module)
	} else if p.Path != "" {
		words = append(words, p.Path)
	}
	return schema.QuoteLine(words)
}
