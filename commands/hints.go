package commands

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// hints says what to do about an error: the hints of the error itself, and those
// that only the command line knows.
func (f *program) hints(err error) []string {
	var hints []string
	if e := (*hook.Error)(nil); errors.As(err, &e) && e.Plugin != "" {
		return nil // it comes from a daemon, which has completed it
	}
	add := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }
	if own := (interface{ Hints() []string })(nil); len(asError(err).Hints) > 0 {
		hints = slices.Clone(asError(err).Hints)
	} else if errors.As(err, &own) {
		hints = own.Hints()
	}
	f.pluginHints(err, add)
	f.pythonHints(err, add)
	f.exceptionHints(asError(err), add)
	return hints
}

// allHints are the hints of the error itself and those of the command line, for
// who shows them apart from the error.
func (f *program) allHints(err error) []string {
	all := slices.Clone(asError(err).Hints)
	for _, hint := range f.hints(err) {
		if !slices.Contains(all, hint) {
			all = append(all, hint)
		}
	}
	return all
}

// complete is an error with the hints and the plugin's name that only this process
// knows, for another one.
func (f *program) complete(err error) *hook.Error {
	e := *asError(err)
	e.Hints = f.allHints(err)
	for _, context := range f.context(&e) {
		e.Plugin = strings.TrimPrefix(context, "plugin: ")
	}
	return &e
}

type adder func(format string, args ...any)

// pluginHints are about the plugin's path, manifest, hooks and arguments.
func (f *program) pluginHints(err error, add adder) {
	var (
		noHook    *schema.NoHookError
		args      *schema.ArgumentError
		transport *runner.TransportError
		limit     *hook.LimitError
	)
	kind := asError(err).Kind
	switch {
	case errors.As(err, &noHook):
		if len(noHook.Known) == 0 && asError(err).Status == nil && len(asError(err).Hints) == 0 {
			add("it has no hooks: define a public function in it")
		}
	case errors.As(err, &args):
		if args.Place == "" && args.Err == nil && len(args.Hints()) == 0 {
			add("`pyplug hooks %s` shows what it takes", schema.QuoteLine([]string{f.plugin}))
		}
	case errors.As(err, &transport):
		if f.session != nil && f.session.Plugin().Shebang != "" {
			add("it is a Python script: give it a name, or a link, that ends in .py")
		}
	case errors.As(err, &limit) && kind == hook.Timeout:
		add("--timeout gives it longer, --timeout 0 waits for ever")
	case errors.As(err, &limit) && kind == hook.Start:
		add("--start-timeout gives it longer")
	}
}

// pythonHints are about the interpreter.
func (f *program) pythonHints(err error, add adder) {
	missing := (*schema.MissingModuleError)(nil)
	if errors.As(err, &missing) && f.session != nil && f.session.Interpreter().Path != "" {
		f.missingHint(missing, add)
		add("or name the Python that has it with --python")
	}
}

// missingHint says what to install for a module that is not there.
func (f *program) missingHint(e *schema.MissingModuleError, add adder) {
	module := e.Module
	if _, rest, ok := strings.Cut(e.Text, "No module named '"); ok {
		module, _, _ = strings.Cut(rest, "'") // with the package that it is in
	}
	text := module + " is not installed for this Python"
	if name := check.Distribution(module); name != "" {
		text += ": " + schema.QuoteLine([]string{f.session.Interpreter().Path, "-m", "pip", "install", name})
	}
	add("%s", text)
}

// exceptionHints are about what the plugin raised, and how it ended.
func (f *program) exceptionHints(e *hook.Error, add adder) {
	if e.Exit != nil && e.Exit.Limit != "" {
		add("--max-memory sets the limit, as does limits.memory in the manifest")
	}
	if e.Exit != nil && e.Exit.OutOfMemory {
		add("the system ran out of memory; give the plugin less to do at once, or the machine more")
	}
	if e.Python == nil {
		return
	}
	root := e.Python
	for root.Cause != nil {
		root = root.Cause
	}
	raised := []string{e.Python.Type, root.Type}
	switch {
	case slices.Contains(raised, "FileNotFoundError") && f.session != nil:
		add("relative paths start at the plugin's working directory, %s; --cwd changes it", f.session.Settings().Dir)
	}
}

func firstFew(words []string, n int) []string {
	if len(words) <= n {
		return words
	}
	return append(slices.Clone(words[:n]), "…")
}

// context says which plugin and which Python an error is about.
func (f *program) context(e *hook.Error) []string {
	if f.plugin == "" || e.Kind == hook.Usage || isNotRunning(e) {
		return nil
	}
	about := aboutPlugin(f.plugin, f.session, f.seen.process())
	if f.session == nil {
		about = cmp.Or(f.about, about)
	}
	return []string{"plugin: " + cmp.Or(e.Plugin, about)}
}

// aboutPlugin names a plugin and, once that is known, its Python.
func aboutPlugin(plugin string, s *runner.Opened, info hook.Info) string {
	if s == nil || s.Interpreter().Path == "" {
		return plugin
	}
	return fmt.Sprintf("%s (python %s, %s)", plugin, pythonVersion(s, info), pythonPlace(s.Interpreter()))
}

// pythonVersion is what the plugin itself told of it, else what files tell.
func pythonVersion(s *runner.Opened, info hook.Info) string {
	return cmp.Or(info.Python, s.Interpreter().Version.String())
}

func (f *program) pythonVersion() string { return pythonVersion(f.session, f.seen.process()) }

// pythonPlace names the environment where there is one, else the path.
func pythonPlace(py interp.Interpreter) string {
	if py.Env != "" {
		return py.Env
	}
	return py.Path
}

// pluginLabel names a plugin in front of what it prints.
func pluginLabel(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, ".py")
}
