package commands

import (
	"context"
	"slices"
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

// logLine is a line of the log of a plugin.
type logLine struct {
	name string
	daemon.Line
}

// logs prints the logs of the plugins that words name. If want.Follow is set, it follows all logs
// at once. Otherwise it merges their lines by time.
func (prog *program) logs(ctx context.Context, words []string, want daemon.Want) error {
	among := len(words) > 1
	write := func(l logLine) error {
		return prog.write(ctx, func() error {
			return prog.streams.LogLine(l.name, among, l.Time, l.Generation, l.Stream, l.Text, prog.opts.json || prog.opts.logJSON)
		})
	}
	if want.Follow || !among {
		return prog.firstOf(each(words, func(_ int, word string) error { return prog.log(ctx, word, want, write) })...)
	}
	all := make([][]logLine, len(words))
	failures := each(words, func(i int, word string) error {
		return prog.log(ctx, word, want, func(l logLine) error {
			all[i] = append(all[i], l)
			return nil
		})
	})
	for _, l := range merged(all) {
		if err := write(l); err != nil {
			return err
		}
	}
	return prog.firstOf(failures...)
}

// merged returns the lines of several logs, sorted by time. A line without a time stays after the
// previous line of its log.
func merged(logs [][]logLine) (all []logLine) {
	var times []time.Time
	for _, lines := range logs {
		var last time.Time
		for _, l := range lines {
			if l.Time.After(last) {
				last = l.Time
			}
			all, times = append(all, l), append(times, last)
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return times[a].Compare(times[b]) })
	sorted := make([]logLine, len(all))
	for at, i := range order {
		sorted[at] = all[i]
	}
	return sorted
}

// log passes the wanted lines of one log to write.
func (prog *program) log(ctx context.Context, word string, want daemon.Want, write func(logLine) error) error {
	e, err := service.FindRunning(ctx, word)
	name := e.Name
	if isNotRunning(err) && daemon.ValidName(word) {
		name, err = word, nil // a log outlives its daemon
	}
	if err != nil {
		return err
	}
	read := func(name string) error {
		return daemon.ReadLog(ctx, name, want, func(l daemon.Line) error { return write(logLine{name, l}) })
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
