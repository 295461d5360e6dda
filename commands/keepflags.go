package commands

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/manifest"
)

// keepCategory is the heading of keepFlags in the help.
const keepCategory = "Kept alive"

// keepFlags are those of every command that keeps a plugin alive. Some may be set by the
// environment: how many workers, how much of the machine they use and when they are
// restarted often depend on where pyplug runs.
func keepFlags(k *runner.Keep) []cli.Flag {
	const unlimited = time.Duration(none)
	workers := countFlag(&k.Workers, 1, 1024, "workers", "run `N` worker processes, or auto: one for each core (default: 1)")
	workers.parse, workers.candidates = orAuto(workers.parse, &k.Workers), []string{"auto"}
	memory := sizeFlag(&k.MaxMemory, none, manifest.LeastMemory, 1<<62, "512MB or 2GB", "max-memory", "replace or kill workers that use more than `SIZE`, such as 512MB")
	return inCategory(keepCategory,
		fromEnv(workers, "PYPLUG_WORKERS"),
		fromEnv(countFlag(&k.Concurrency, 1, runner.MaxConcurrency, "concurrency", "send a worker `N` calls at once (default: 1; a gRPC plugin: 100)"), "PYPLUG_CONCURRENCY"),
		switchFlag(&k.Threads, "threads", "run plain functions in threads, as many as --concurrency"),
		countFlag(&k.Queue, 1, 10_000_000, "queue", "let `N` calls wait for a worker (default: 1000)"),
		delayFlag(&k.QueueTimeout, unlimited, "queue-timeout", "let a call wait for a worker for `DURATION` (default: its --timeout)"),
		fromEnv(choiceFlag(&k.Restart, "restart", "restart policy: `POLICY` is no, on-failure or always", "no", "on-failure", "always"), "PYPLUG_RESTART"),
		orZero(&k.MaxFailures, none, countFlag(&k.MaxFailures, 0, 1_000_000, "max-restarts", "give up after `N` failed starts in a row, 0: never")),
		delayFlag(&k.Backoff, runner.AtOnce, "backoff", "wait for `DURATION` after the first failure, and twice as long after each further one (default: 1s)"),
		delayFlag(&k.BackoffMax, runner.AtOnce, "backoff-max", "maximum delay between restarts, a `DURATION` (default: 60s)"),
		delayFlag(&k.HealthyAfter, runner.AtOnce, "healthy-after", "reset the failure count once a worker has been ready for `DURATION` (default: 10s)"),
		fromEnv(memory, "PYPLUG_MAX_MEMORY"),
		orZero(&k.MaxCalls, none, countFlag(&k.MaxCalls, 0, 1<<31-1, "max-calls", "replace workers after about `N` calls")),
		delayFlag(&k.MaxAge, unlimited, "max-age", "replace workers after `DURATION`"),
		delayFlag(&k.IdleTime, unlimited, "idle-time", "replace workers idle for `DURATION`"),
		fromEnv(choiceFlag(&k.Preload, "preload", "fork workers from a preloaded process: `WHEN` is off, auto or force (default: auto, if that is safe)", "off", "auto", "force"), "PYPLUG_PRELOAD"),
	)
}

// orAuto reads the word auto, too.
func orAuto(parse func(text string) error, to *int) func(text string) error {
	return func(text string) error {
		if text == "auto" {
			*to = runner.AutoWorkers
			return nil
		}
		if err := parse(text); err != nil {
			return fmt.Errorf("%w, or auto", err)
		}
		return nil
	}
}
