package proc

import (
	"errors"
	"os"
)

// Fork errors.
var (
	// ErrNoFork says that the process can fork no more: it is gone, or it does not
	// answer and was killed.
	ErrNoFork = errors.New("the process that forks is gone")
)

// RefusedError is why a process did not fork, in its own words.
type RefusedError struct{ Reason string }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Fork has a process that was started with Forks fork a worker, which is then a
// [Process] of its own as one from [Start]: with its own group, lifeline, marks,
// pipes and Exit, and with Talk. Of s the fields OnLine, StackSignal, Grace and
// Limits count; the rest is as in the forking process. The worker outlives it.
//
// It returns once the worker is there, within 10 seconds, and is safe for
// concurrent use. The errors: a [*RefusedError] when the process said no;
// [ErrNoFork] when it is gone or silent, and then it is killed; one that is the
// system's, such as EAGAIN, when the system has no room; [errors.ErrUnsupported]
// where [CanFork] is false. Nothing is left then.
//
// The process speaks on descriptor 3, a socket of whole messages (SOCK_SEQPACKET).
// It is asked one thing at a time, and answers each in one message:
//
//	fork PLACE TAG   with descriptors, the worker's 0, 1, 2 and PLACE; the last may
//	                 be absent. The worker is to have a group of its own, TAG for
//	                 the value of the variable PYPLUG_RUN in its first environment,
//	                 and to run nothing of anybody's until it can read something.
//	                 The answer is "pid PID"; "errno NUMBER" when the system
//	                 refused; else "refused REASON".
//	reap PID         of a dead worker; "status STATUS KIB" as wait4 tells, the status
//	                 and the most memory; "gone" when there is none.
//
// The end of the socket asks it to end.
func (p *Process) Fork(s Spec) (*Process, error) {
	if p.control == nil {
		return nil, errors.ErrUnsupported
	}
	if err := s.Limits.Check(); err != nil {
		return nil, &StartError{Path: p.spec.Path, Err: err}
	}
	s.Path, s.Args, s.Env, s.Dir, s.Talk = p.spec.Path, p.spec.Args, p.spec.Env, p.spec.Dir, true
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	// What its workers took is not its own: it is not to be stopped for that.
	p.throttle.end(p.tree)
	defer p.control.bears()()
	return begin(s, nil, func(_ Spec, child [3]*os.File) (*tree, error) { return p.bear(child) })
}
