package commands

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/manifest"
)

// keepCategory is under which heading help lists what keepFlags are.
const keepCategory = "Kept alive:"

// keepFlags are those of every command that keeps a plugin alive. Five of them
// may stand in the environment: how many workers, how much of the machine they
// take, and when they are started again are often a matter of where pyplug runs.
func keepFlags() []cli.Flag {
	flags := []cli.Flag{
		value("workers", "`N` processes, or auto: one for each core (default: 1)", "PYPLUG_WORKERS"),
		value("concurrency", "`N` calls at once in one worker (default: 1; a gRPC plugin: 100)", "PYPLUG_CONCURRENCY"),
		&cli.BoolFlag{Name: "threads", Usage: "run plain functions in threads, as many as --concurrency says, which has to be above 1"},
		value("queue", "`N` calls may wait for a worker (default: 1000); with --lines they do only while one is started"),
		durationFlag("queue-timeout", "how `LONG` a call may wait for a worker (default: as long as it may take)"),
		value("restart", "`WHEN` a worker that ended is started again: no, on-failure or always", "PYPLUG_RESTART"),
		value("max-restarts", "give up after `N` failures in a row, 0: never"),
		durationFlag("backoff", "how `LONG` to wait after the first failure, twice as long after each further one (default: 1s)"),
		durationFlag("backoff-max", "the `LONG`est such wait (default: 60s)"),
		durationFlag("healthy-after", "a worker that was ready so `LONG` begins the row of failures anew (default: 10s)"),
		value("max-memory", "a worker that takes more is replaced or killed, a `SIZE` such as 512MB", "PYPLUG_MAX_MEMORY"),
		value("max-calls", "replace a worker after about `N` calls, up to a quarter earlier; it answers until the next one is ready"),
		durationFlag("max-age", "replace a worker that is so `OLD`"),
		durationFlag("idle-time", "replace a worker that had no call for so `LONG`"),
		value("preload", "`WHETHER` workers are forked from one that has imported the plugin: off, auto (if that is safe) or force", "PYPLUG_PRELOAD"),
	}
	for _, flag := range flags {
		switch flag := flag.(type) {
		case *cli.StringFlag:
			flag.Category = keepCategory
		case *cli.GenericFlag:
			flag.Category = keepCategory
		case *cli.BoolFlag:
			flag.Category = keepCategory
		}
	}
	return flags
}

// value is a flag whose text readKeep reads.
func value(name, use string, env ...string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: use, EnvVars: env}
}

// none is a limit that was set to none.
const none = -1

// readKeep fills the part of a Config that keepFlags say.
func readKeep(c *cli.Context, cfg *runner.Config) error {
	k := &cfg.Keep
	var err error
	set := func(name string, read func(text string) error) {
		text := c.String(name)
		if _, named := os.LookupEnv("PYPLUG_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))); text == "" && named {
			return // a variable that is empty is as good as none
		}
		if c.IsSet(name) && err == nil {
			err = read(text)
		}
	}
	set("workers", func(text string) error {
		if text == "auto" {
			k.Workers = runner.AutoWorkers
			return nil
		}
		return readCount("workers", text, 1, 1024, ", or auto", &k.Workers)
	})
	set("concurrency", func(text string) error {
		return readCount("concurrency", text, 1, runner.MaxConcurrency, "", &k.Concurrency)
	})
	set("queue", func(text string) error { return readCount("queue", text, 1, 10_000_000, "", &k.Queue) })
	set("max-restarts", func(text string) error {
		return orNone(readCount("max-restarts", text, 0, 1_000_000, "", &k.MaxRestarts), &k.MaxRestarts)
	})
	set("max-calls", func(text string) error {
		return orNone(readCount("max-calls", text, 0, 1<<31-1, "", &k.MaxCalls), &k.MaxCalls)
	})
	set("restart", func(text string) error { return readWord("restart", text, &k.Restart, "no", "on-failure", "always") })
	set("preload", func(text string) error { return readWord("preload", text, &k.Preload, "off", "auto", "force") })
	set("max-memory", func(text string) error {
		bytes, ok := manifest.ParseSize(text)
		if !ok {
			return usage("--max-memory is %q, want a size such as 512MB or 2GB", text)
		}
		if bytes > 0 && bytes < manifest.LeastMemory {
			return usage("--max-memory is %q, want at least 1MB", text)
		}
		k.MaxMemory = bytes
		return orNone(nil, &k.MaxMemory)
	})
	k.Threads = c.Bool("threads")
	for name, to := range map[string]*time.Duration{"backoff": &k.Backoff, "backoff-max": &k.BackoffMax, "healthy-after": &k.HealthyAfter} {
		readDelay(c, name, time.Nanosecond, to) // 0 is at once, and not "nobody said"
	}
	for name, to := range map[string]*time.Duration{"queue-timeout": &k.QueueTimeout, "max-age": &k.MaxAge, "idle-time": &k.IdleTime} {
		readDelay(c, name, none, to)
	}
	if err == nil && k.Backoff > 0 && k.BackoffMax > 0 && k.BackoffMax < k.Backoff {
		err = usage("--backoff-max is %s, want at least the %s of --backoff", k.BackoffMax, k.Backoff)
	}
	return err
}

// readDelay reads a duration flag, where 0 stands for something else.
func readDelay(c *cli.Context, name string, zero time.Duration, to *time.Duration) {
	d, ok := c.Generic(name).(*duration)
	switch {
	case !ok || !d.set:
	case d.value == 0:
		*to = zero
	default:
		*to = d.value
	}
}

// orNone makes a limit of 0 none.
func orNone[N int | int64](err error, n *N) error {
	if err == nil && *n == 0 {
		*n = none
	}
	return err
}

// readCount reads a whole number; also says what else is wanted.
func readCount(name, text string, least, most int, also string, to *int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return usage("--%s is %q, want a number from %d to %d%s", name, text, least, most, also)
	}
	*to = n
	return nil
}

// readWord reads one of several words.
func readWord(name, text string, to *string, words ...string) error {
	for _, word := range words {
		if text == word {
			*to = text
			return nil
		}
	}
	last := len(words) - 1
	return usage("--%s is %q, want %s", name, text, fmt.Sprintf("%s or %s", strings.Join(words[:last], ", "), words[last]))
}
