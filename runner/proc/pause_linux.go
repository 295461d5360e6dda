package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pausable lets Pause stop the wake-ups of a pipe. The runtime watches a file forever, and every
// write to its pipe wakes a thread, even if nobody reads. So the pipe gets its own epoll queue. The
// runtime watches that queue instead of the pipe, and reads wait for the queue.
func (p *outputPipe) pausable() error {
	queue, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	pipe, err := unix.FcntlInt(uintptr(p.number), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		if err = watch(unix.EPOLL_CTL_ADD, queue, pipe, unix.EPOLLIN); err == nil {
			err = unix.SetNonblock(queue, true) // the runtime watches only nonblocking files
		}
		if err != nil {
			unix.Close(pipe)
		}
	}
	if err != nil {
		unix.Close(queue)
		return os.NewSyscallError("epoll", err)
	}
	p.File.Close() // ends the runtime's watch; the pipe has another descriptor
	p.File, p.number = os.NewFile(uintptr(queue), "pipe"), pipe
	p.closePipe = func() { unix.Close(pipe) }
	p.raw, err = p.File.SyscallConn()
	return err
}

func watch(operation, queue, pipe int, events uint32) error {
	return unix.EpollCtl(queue, operation, pipe, &unix.EpollEvent{Events: events})
}

// Pause sleeps for d. Output that the process writes meanwhile wakes no thread, which saves time on
// both sides. Only the reader may call Pause.
func (c *Conn) Pause(d time.Duration) {
	silence := func(events uint32) {
		_ = c.out.raw.Control(func(queue uintptr) { // fails if the pipe is closed
			_ = watch(unix.EPOLL_CTL_MOD, int(queue), c.out.number, events)
		})
	}
	silence(0)
	defer silence(unix.EPOLLIN)
	length := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&length, nil) // time.Sleep takes at least a millisecond
}
