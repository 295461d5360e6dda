package commands

import (
	"context"
	"strings"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/service"
)

// followLines is the default of --lines with --follow.
const followLines = 10

func logsCommand(prog *program) command {
	want := daemon.Want{Last: -1}
	var since time.Duration
	var all bool
	followFlag := cmdline.Switch(&want.Follow, "follow", "print new lines as they are added, until Ctrl-C").Alias("f")
	linesFlag := cmdline.Count(&want.Last, 0, 1<<31-1, "lines", "begin with the last `N` lines (default: all; with --follow 10)").Alias("n", "tail")
	sinceFlag := cmdline.Duration(&since, "since", "begin with the lines of the last `DURATION`")
	return newCommand("logs", "print the logs of background plugins", "NAME... | --all",
		append(cmdline.Flags{followFlag, linesFlag, sinceFlag,
			cmdline.Switch(&all, "all", "print the logs of all running background plugins")}, prog.opts.flags()...), func(ctx context.Context, words []string) error {
			words, err := prog.names(ctx, words, all)
			if err != nil {
				return err
			}
			if since > 0 {
				want.Since = time.Now().Add(-since)
			} else if want.Follow && !linesFlag.Typed {
				want.Last = followLines
			}
			return prog.untilSignal(prog.logs(ctx, words, want))
		})
}

// logs prints the logs of the plugins that words name. With --follow it prints all of them at once,
// otherwise one after another.
func (prog *program) logs(ctx context.Context, words []string, want daemon.Want) error {
	read := func(_ int, word string) error { return prog.log(ctx, word, len(words) > 1, want) }
	if want.Follow {
		return prog.firstOf(each(words, read)...)
	}
	var failures []error
	for i := range words {
		failures = append(failures, each(words[i:i+1], read)...)
	}
	return prog.firstOf(failures...)
}

// log prints the wanted lines of one log. among reports whether there are others.
func (prog *program) log(ctx context.Context, word string, among bool, want daemon.Want) error {
	e, err := service.FindRunning(ctx, word)
	name := e.Name
	if isNotRunning(err) && daemon.ValidName(word) {
		name, err = word, nil // a log outlives its daemon
	}
	if err != nil {
		return err
	}
	read := func(name string) error {
		return daemon.ReadLog(ctx, name, want, func(l daemon.Line) error {
			return prog.write(ctx, func() error {
				return prog.streams.LogLine(name, among, l.Time, l.Generation, l.Stream, l.Text, prog.opts.json || prog.opts.logJSON)
			})
		})
	}
	err = read(name)
	if dashed := strings.ReplaceAll(name, "_", "-"); isNotRunning(err) && dashed != name {
		if other := read(dashed); !isNotRunning(other) { // a plugin of my_tool.py has the name my-tool
			err = other
		}
	}
	if err == nil && want.Follow {
		return hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	return err
}
