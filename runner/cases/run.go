package cases

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Isolation says which cases share a process.
type Isolation string

// The isolations. With each of them, a fresh process runs the next case after a crash or timeout.
const (
	PerFile Isolation = "file" // each file starts in a fresh process
	PerCase Isolation = "case" // each case runs in a fresh process
	Lazy    Isolation = "lazy" // a file starts in a fresh process if the last file's process crashed, hung or is unhealthy
	None    Isolation = "none" // all cases share a process
)

// maxItems is the maximum number of bytes of a stream that are kept for comparison.
const maxItems = 64 << 20

// Options say how cases run. Start is required.
type Options struct {
	Isolate Isolation
	// Start starts the plugin for one lane of files. If the plugin has the Replace method of a
	// pool, Run calls it whenever a case needs a fresh process. Otherwise all cases share the
	// process.
	Start func(ctx context.Context) (hook.Plugin, error)
	// Jobs is the maximum number of files that run at a time, at least 1.
	Jobs int
	// Timeout bounds each call, and Probe each health probe. Zero means no limit.
	Timeout, Probe time.Duration
	// Retries is the maximum number of times that a failed case runs again.
	Retries int
	// FailFast ends the run after the first failed case.
	FailFast bool
	// Update gives a case that differs the status [Updated] if [FileResult.Update] can write its
	// answer.
	Update bool
	// When Stop is closed, the run ends after the cases in progress.
	Stop <-chan struct{}
	// Done receives every result, and Ended every file, in the order of the files. They are
	// called one at a time.
	Done  func(*Result)
	Ended func(*FileResult)
}

// Status is the outcome of a case, named as in reports.
type Status string

// The outcomes of a case.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Updated Status = "updated" // the answer differs, and replaces the one in the file
	Skipped Status = "skipped"
	NotRun  Status = "not run"
)

// Result is the outcome of a case.
type Result struct {
	*Case
	Status Status
	// Took is the duration of the last call, and Attempts the number of calls.
	Took     time.Duration
	Attempts int
	// After is the line of the earlier case in the file that ended the previous process. It is 0 if
	// no case did, or if every case has its own process.
	After int
	// Blame says whether a case that ended its process also does so alone. It is empty if the
	// case passed, or if the process had run no other case.
	Blame string
	// Failure is nil unless the case failed or is updated.
	Failure *Failure
}

// Flaky reports whether the case passed after it had failed.
func (r *Result) Flaky() bool { return r.Status == Passed && r.Attempts > 1 }

// FileResult is the outcome of a file.
type FileResult struct {
	*File
	Count     map[Status]int
	Differing []*Result // the failed and updated cases
	// Note says that the process of the last file crashed, hung or became unhealthy, and whether
	// this file shares that process. It is empty if none of this happened.
	Note string
	Took time.Duration
}

// Summary is the cost of isolation: how often a process was replaced, and how long that took.
type Summary struct {
	Replaced int
	Cost     time.Duration
}

// Run runs the cases of files. If ctx is canceled, the calls are, too. An error says why the run
// ended early. Stop and FailFast are not errors. Cases that did not run have the status
// [NotRun].
func Run(ctx context.Context, o Options, files []*File) (Summary, error) {
	r := &running{Options: o, ctx: ctx, pending: make([][]func(), len(files)), ended: make([]bool, len(files))}
	r.going, r.stop = context.WithCancel(ctx)
	defer r.stop()
	next := make(chan int, len(files))
	for i := range files {
		next <- i
	}
	close(next)
	var lanes sync.WaitGroup
	for range min(max(o.Jobs, 1), len(files)) {
		lanes.Go(func() { // ends with the files
			l := &lane{running: r}
			for i := range next {
				l.file(i, files[i])
			}
		})
	}
	lanes.Wait()
	return r.summary, r.err
}

// running is a run in progress.
type running struct {
	Options
	ctx   context.Context
	going context.Context // done when no more cases should start
	stop  func()          // cancels going

	mu      sync.Mutex // protects the following
	err     error
	summary Summary
	current int        // the file whose results are reported as they come
	pending [][]func() // the reports of each file that wait for earlier files
	ended   []bool
}

// abort ends the run because of an error.
func (r *running) abort(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = cmp.Or(r.err, err)
	r.stop()
}

// isOver reports whether no more cases should start.
func (r *running) isOver() bool {
	return hook.IsClosed(r.going.Done()) || hook.IsClosed(r.Stop)
}

// report calls do once all earlier files are reported. last marks the last report of the file.
func (r *running) report(file int, last bool, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[file] = append(r.pending[file], do)
	r.ended[file] = last
	for r.current < len(r.pending) {
		for _, do := range r.pending[r.current] {
			do()
		}
		r.pending[r.current] = nil
		if !r.ended[r.current] {
			return
		}
		r.current++
	}
}
