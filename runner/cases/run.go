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

// The isolations. If a process dies, a fresh one runs the next case in any of them.
const (
	PerFile Isolation = "file" // each file begins in a fresh process
	PerCase Isolation = "case" // each case has a fresh process
	Lazy    Isolation = "lazy" // a file begins in a fresh process if the one before left a dirty one
	None    Isolation = "none" // all share one
)

// maxItems is how many bytes of a stream are kept to be compared.
const maxItems = 64 << 20

// Options say how cases run. Start is needed.
type Options struct {
	Isolate Isolation
	// Start starts the plugin in a fresh process, for files that run one after the other. If the
	// plugin has a pool's Replace method, Run calls it to get fresh processes; otherwise it gets
	// none.
	Start func(ctx context.Context) (hook.Plugin, error)
	// Jobs is how many files run at a time, at least 1.
	Jobs int
	// Timeout limits each call, and Probe each probe of the health; 0: no limit.
	Timeout, Probe time.Duration
	// Retries is how often a failed case runs again.
	Retries  int
	FailFast bool
	// Update gives cases the status [Updated] if [FileResult.Update] can write what they returned.
	Update bool
	// Closing Stop ends the run after the cases in progress.
	Stop <-chan struct{}
	// Done receives every result, and Ended every file, in the order of the files. They are
	// called one at a time.
	Done  func(*Result)
	Ended func(*FileResult)
}

// Status is the outcome of a case, by its name in reports.
type Status string

// The outcomes of a case.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Updated Status = "updated" // the answer differs, and replaces that in the file
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
	// After is the line of the case that ended the process before this one; 0 if the file
	// began in this process, or every case has its own.
	After int
	// Blame says whether a case that ended its process also does so alone. It is empty if the
	// case passed or the process served no other case.
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
	Differing []*Result // that failed or are updated
	// Note says that the file before left a crashed, hung or unhealthy process, and whether this
	// file shares that process. It is empty if the file before left none.
	Note string
	Took time.Duration
}

// Summary is the cost of isolation: how often a process was replaced, and how long that took.
type Summary struct {
	Replaced int
	Cost     time.Duration
}

// Run runs the cases of files. Ending ctx cancels the calls. The error says why the run
// ended early; Stop and FailFast are not errors. Cases that did not run have the status
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
	going context.Context // done when no more cases are to run
	stop  func()          // ends going

	mu      sync.Mutex // protects what follows
	err     error
	summary Summary
	current int        // the file whose results are reported as they come
	pending [][]func() // reports of the files behind it
	ended   []bool
}

// abort ends the run because of an error.
func (r *running) abort(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = cmp.Or(r.err, err)
	r.stop()
}

// isOver reports whether no more cases are to run.
func (r *running) isOver() bool {
	return hook.IsClosed(r.going.Done()) || hook.IsClosed(r.Stop)
}

// report calls do when all earlier files are reported. If last is set, it is the last report of the
// file.
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
