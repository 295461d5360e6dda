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

// processStat returns the fields of a process's stat from field 3 (its state) on;
// nil if there is no such process.
func processStat(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// The name, field 2, is in brackets and may contain anything.
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// processMark is the system's word for when a process started: field 22 of its stat,
// in ticks since the boot. It is "" if there is no such process.
func processMark(pid int) string {
	if fields := processStat(pid); len(fields) >= 20 {
		return fields[19]
	}
	return ""
}

// suspended reports whether a process was stopped by a signal.
func suspended(pid int) bool {
	fields := processStat(pid)
	return len(fields) > 0 && (fields[0] == "T" || fields[0] == "t")
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
			return fmt.Errorf("the peer's user: %w", err)
		}
		uid = int(cred.Uid)
		return nil
	})
	return uid, err
}

// concealDescriptors keeps inherited descriptors from the processes we start.
func concealDescriptors() {
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // an old kernel cannot
}

func duplicate(from *os.File, to int) error {
	return unix.Dup3(int(from.Fd()), to, 0)
}
