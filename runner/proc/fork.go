package proc

import (
	"errors"
	"os"
)

// ErrNoFork reports that a process can fork no more: it is gone, or did not answer
// and was killed.
var ErrNoFork = errors.New("the process that forks is gone")

// RefusedError is the reason for which a process did not fork, in its own words.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Fork makes a process that was started with Forks fork a worker: a [Process] like
// one from [Start] with Talk, with its own group, lifeline, tag, pipes and Exit. It
// uses OnLine, StackSignal, Grace and MaxMemory of s; the rest is as in the forking
// process, which the worker may outlive.
//
// It returns within 2 seconds and is safe for concurrent use. The errors: a
// [*RefusedError] if the process refused; [ErrNoFork] if it is gone, or did not answer
// and was killed; the system's, such as EAGAIN; [errors.ErrUnsupported] if [CanFork]
// is false. An error leaves nothing behind, [ErrNoFork] once the process is Done.
//
// The process speaks on descriptor 4, a socket of whole messages (SOCK_SEQPACKET). It
// gets one request at a time, and answers each in one message:
//
//	fork PLACE TAG   comes with the worker's descriptors 0 to 3 and PLACE; the last
//	                 may be absent. The worker needs a group of its own and TAG as the
//	                 value of PYPLUG_RUN in its first environment, where all tags are
//	                 of one length, and must run nothing of the user's until it can
//	                 read something. The answer is "pid PID", "errno NUMBER" if the
//	                 system refused, else "refused REASON".
//	reap PID         of a dead worker. The answer is "status STATUS KIB", as wait4 has
//	                 the status and the most memory, or "gone" if there is none.
//
// The end of the socket asks it to exit.
func (p *Process) Fork(s Spec) (*Process, error) {
	if p.control == nil {
		return nil, errors.ErrUnsupported
	}
	if err := CheckMaxMemory(s.MaxMemory); err != nil {
		return nil, startError(p.spec.Path, err)
	}
	s.Path, s.Args, s.Env, s.Dir, s.Talk = p.spec.Path, p.spec.Args, p.spec.Env, p.spec.Dir, true
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	return launch(s, nil, func(_ Spec, child []*os.File) (*tree, error) { return p.forkTree(child) })
}
