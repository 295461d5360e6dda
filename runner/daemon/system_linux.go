package daemon

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processMark is the system's word for when a process was started: field 22 of
// its stat, in ticks since the boot. It is "" for one that is not there.
func processMark(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name, field 2, is in brackets and may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// bootMark is the system's word for this boot.
func bootMark() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// peerUID is the user at the other end.
func peerUID(c *net.UnixConn) (uid int, err error) {
	err = control(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return fmt.Errorf("who connects: %w", err)
		}
		uid = int(cred.Uid)
		return nil
	})
	return uid, err
}

// concealDescriptors keeps what we have inherited from those that we start.
func concealDescriptors() {
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // an old kernel leaves it
}

func duplicate(from *os.File, to int) error {
	return unix.Dup3(int(from.Fd()), to, 0)
}
