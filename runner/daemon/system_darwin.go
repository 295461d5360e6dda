package daemon

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// processMark is the system's word for when a process started; "" if there is no
// such process.
func processMark(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	start := info.Proc.P_starttime
	return strconv.FormatInt(start.Sec, 10) + "." + strconv.FormatInt(int64(start.Usec), 10)
}

// suspended reports whether a process was stopped by a signal.
func suspended(pid int) bool {
	const stopped = 4 // SSTOP
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == stopped
}

// bootMark is the system's word for this boot.
func bootMark() string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return boot
}

// peerUID is the user at the other end.
func peerUID(c *net.UnixConn) (uid int, err error) {
	err = control(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return fmt.Errorf("the peer's user: %w", err)
		}
		uid = int(cred.Uid)
		return nil
	})
	return uid, err
}

// concealDescriptors keeps inherited descriptors from the processes we start.
func concealDescriptors() {
	const most = 256
	for fd := 3; fd < most; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, flags|unix.FD_CLOEXEC)
		}
	}
}

func duplicate(from *os.File, to int) error {
	return unix.Dup2(int(from.Fd()), to)
}
