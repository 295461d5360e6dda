package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

func stopCommand(prog *program) command {
	var all bool
	how := daemon.StopOptions{Reason: "pyplug stop"}
	timeout := cmdline.New("timeout", "let running calls continue for `DURATION` (default: 5s)", func(text string) error {
		d, ok := schema.ParseDuration(text)
		if how.Calls = &d; !ok {
			return fmt.Errorf("is %q, expected a duration such as 30s, 2m or a number of seconds", text)
		}
		return nil
	})
	return newCommand("stop", "stop background plugins", "NAME... | --all",
		append(cmdline.Flags{cmdline.Switch(&all, "all", "stop all background plugins"), timeout}, prog.opts.flags()...), func(ctx context.Context, words []string) error {
			words, err := readNames(words, all)
			if err != nil {
				return err
			}
			return prog.stop(ctx, words, how)
		})
}

// readNames reads a command line with one or more NAMEs, or only --all. It returns no words for
// --all.
func readNames(words []string, all bool) ([]string, error) {
	if all {
		return nil, cmdline.WantWords(words, "")
	}
	return words, cmdline.WantWords(words, "NAME...")
}

// names reads a command line with one or more NAMEs, or only --all. For --all it returns the names
// of all background plugins.
func (prog *program) names(ctx context.Context, words []string, all bool) ([]string, error) {
	words, err := readNames(words, all)
	if err != nil || !all {
		return words, err
	}
	return prog.running(ctx)
}

// running returns the names of all background plugins. It prints a note if there are none.
func (prog *program) running(ctx context.Context) ([]string, error) {
	entries, err := daemon.List(ctx)
	if err == nil && len(entries) == 0 {
		prog.streams.Note("no background plugins are running")
	}
	return service.Names(entries), err
}

// each calls do for each item concurrently. It returns the errors in the order of the items.
func each[T any](items []T, do func(i int, item T) error) []error {
	errs := make([]error, len(items))
	var work sync.WaitGroup
	for i, item := range items {
		work.Go(func() { errs[i] = do(i, item) })
	}
	work.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// firstOf returns the first error that is not nil, and warns about the others.
func (prog *program) firstOf(errs ...error) (first error) {
	for _, err := range errs {
		switch p := pluginOf(err); {
		case err == nil:
		case first == nil:
			first = err
		case p != nil:
			prog.streams.Warn(p.typed() + ": " + err.Error())
		default:
			prog.streams.Warn(err.Error())
		}
	}
	return first
}

// stop stops the plugins that words name, or all of them, concurrently.
func (prog *program) stop(ctx context.Context, words []string, how daemon.StopOptions) error {
	names, failures := prog.toStop(ctx, words)
	waiting := prog.streams.Waiting("stopping " + strings.Join(names, ", "))
	failures = append(failures, each(names, func(i int, name string) error {
		prog.streams.Log("info", "stopping", "name", name)
		ran, err := daemon.Stop(ctx, name, how) // after an interrupt, Stop kills the plugin and waits for its end
		if !ran || err != nil {
			names[i] = ""
		}
		return err
	})...)
	waiting()
	stopped := slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if prog.opts.json && (len(stopped) > 0 || len(failures) == 0) {
		if err := prog.write(ctx, func() error { return prog.streams.Stopped(stopped) }); err != nil {
			failures = append(failures, err)
		}
	} else if len(words) == 0 && len(stopped) > 0 {
		prog.streams.Note("stopped " + strings.Join(stopped, ", "))
	}
	return prog.firstOf(failures...)
}

// toStop returns the names of the plugins that words name, or of all plugins without words, and the
// errors of invalid words. For a word without a running plugin it only prints a note.
func (prog *program) toStop(ctx context.Context, words []string) (names []string, failures []error) {
	if len(words) == 0 {
		names, err := prog.running(ctx)
		if err != nil {
			failures = append(failures, err)
		}
		return names, failures
	}
	for _, word := range words {
		e, err := service.Find(ctx, word)
		switch fault := hook.AsError(err); {
		case isNotRunning(err) && !daemon.ValidName(word):
			failures = append(failures, cmdline.Usage("%s is not a name, expected lower case letters, digits, - and _", schema.QuoteLine([]string{word})))
		case isNotRunning(err), err == nil && e.Name == "", err != nil && fault.Kind == hook.Usage && fault.Permanent: // the word is no plugin
			prog.streams.Note(word + " is not running")
		case err != nil:
			failures = append(failures, err)
		case !slices.Contains(names, e.Name):
			names = append(names, e.Name)
		}
	}
	return names, failures
}

func restartCommand(prog *program) command {
	var all bool
	return newCommand("restart", "restart the workers of background plugins", "NAME... | --all",
		append(cmdline.Flags{cmdline.Switch(&all, "all", "restart all background plugins")}, prog.opts.flags()...), func(ctx context.Context, words []string) error {
			words, err := prog.names(ctx, words, all)
			if err != nil {
				return err
			}
			return prog.restart(ctx, words)
		})
}

// restart replaces the workers of the plugins that words name, concurrently.
func (prog *program) restart(ctx context.Context, words []string) error {
	stop := prog.streams.Waiting("restarting " + strings.Join(words, ", "))
	failures := each(words, func(_ int, word string) error { return prog.restartOne(ctx, word) })
	stop()
	if prog.opts.json && len(failures) == 0 {
		return prog.status(ctx, words, statusView{})
	}
	return prog.firstOf(failures...)
}

// restartOne replaces the workers of one plugin.
func (prog *program) restartOne(ctx context.Context, word string) error {
	p, err := prog.connect(ctx, word)
	if err != nil {
		return err
	}
	if err := p.Restart(ctx, "restarted by pyplug restart"); err != nil {
		if st, failed := p.Status(ctx); failed == nil && st.Ready > 0 && !daemon.Is(err, daemon.Stopping) {
			prog.streams.Note("the files of " + word + " start no new workers, so the old ones stay")
		}
		return failed(p, err)
	}
	if _, notes, err := p.Ready(ctx); err == nil {
		prog.streams.Notes(notes)
	}
	return nil
}
