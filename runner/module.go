package runner

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// findModule is the program that says where a module is.
//
//go:embed module.py
var findModule string

// moduleMark begins its answer: a .pth file may print something before.
const moduleMark = "\x1epyplug-module "

// locateModule asks the plugin's Python where the plugin's module is. The module, the
// packages above it included, is not imported.
func (o *Opened) locateModule(ctx context.Context) error {
	p := o.plugin
	if err := o.MayRun(); err != nil {
		return hook.NewError(hook.Usage, fmt.Errorf("no file in %s is the module %s, and no Python is asked where it is: %w", p.From, p.Module, err))
	}
	out, err := proc.Run(ctx, proc.Tool{Path: o.python.Path, Args: []string{"-c", findModule, p.From, p.Module}, Env: o.environ, Dir: p.From})
	if ctx.Err() != nil {
		return hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	_, answer, ok := bytes.Cut(out.Stdout, []byte(moduleMark))
	if err == nil && !ok {
		err = errors.New(hook.Exit(out.Exit).String())
	}
	if err != nil {
		e := hook.NewError(hook.Interpreter, fmt.Errorf("%s cannot be asked where the module %s is: %w", o.python.Path, p.Module, err))
		e.Tried = strings.Split(strings.TrimSpace(string(out.Stderr)), "\n")
		return e
	}
	words := strings.Split(string(answer), "\x00")
	switch kind, where := words[0], words[1]; kind {
	case "package", "file":
		o.plugin = p.Located(where, kind == "package")
	case "built-in": // each has a path of its own
		o.plugin = p.Located(o.python.Path+":"+p.Module, false)
	case "namespace":
		return hook.NewError(hook.Usage, fmt.Errorf("the module %s is a directory without __init__.py: want a module with code", p.Module))
	default:
		e := hook.NewError(hook.Usage, fmt.Errorf("no module %s: python %s finds no %s", p.Module, o.python.Version, where))
		e.Tried = words[2:]
		if file, isFile := strings.CutSuffix(p.Module, ".py"); isFile {
			e.Hints = schema.Hints("-m takes the name of a module, without .py: -m %s", file)
		}
		return e
	}
	return nil
}

// lacksSource reports whether the plugin is run by Python, but not from a file of source.
func (o *Opened) lacksSource() bool {
	p := o.plugin
	return manifest.IsZip(o.script) || p.Module != "" && p.Kind == manifest.File && !strings.HasSuffix(p.Entry, ".py")
}

// ownDirs are the directories in which the plugin's own modules are: of an installed module
// those of its package alone.
func (o *Opened) ownDirs() []string {
	p := o.plugin
	switch {
	case p.Module == "":
		return importDirs(p.Entry, o.script)
	case p.IsOwn():
		return append([]string{p.From}, importDirs(p.Entry, o.script)...)
	}
	return []string{p.Entry}
}
