package service

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// The variables that a service manager such as systemd sets for pyplug. The plugin does not get
// them, because it would report instead of pyplug.
const (
	notifyVariable   = "NOTIFY_SOCKET" // the socket to which pyplug reports its state
	watchdogVariable = "WATCHDOG_USEC" // how often pyplug must report that it is healthy
	watchdogPID      = "WATCHDOG_PID"  // the process that must report, or pyplug if it is not set
)

// withoutManager returns an environment without the service manager's variables.
func withoutManager(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == notifyVariable || name == watchdogVariable || name == watchdogPID
	})
}

// notify reports a state, such as "READY=1", to the service manager that started this process, as
// sd_notify(3) does: to a path, or to an abstract name that begins with "@".
func (s *Service) notify(state string) {
	socket := os.Getenv(notifyVariable)
	if socket == "" {
		return
	}
	conn, err := net.Dial("unixgram", socket)
	if err == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, err = conn.Write([]byte(state))
		_ = conn.Close() // the datagram was sent
	}
	if err != nil {
		s.to.Warn(fmt.Errorf("%s: %w", notifyVariable, err))
	}
}

// managerStatus returns the assignment that tells the service manager the state of the plugin.
func (s *Service) managerStatus() string {
	st := s.status()
	state := st.State
	if st.Workers > 1 {
		state += hook.State(fmt.Sprintf(", %d of %d workers", st.Ready, st.Workers))
	}
	return statusLine(state, cmp.Or(st.Reason, st.Note))
}

// statusLine returns the assignment for a state, with its reason if there is one.
func statusLine(state hook.State, reason string) string {
	line := "STATUS=" + string(state)
	if reason != "" {
		line += ": " + reason
	}
	line, _, _ = strings.Cut(line, "\n") // the next line would be another assignment
	return line
}

// watchdog reports to the service manager while the plugin is ready, starting or stopping, at half
// the interval that the manager has set.
func (s *Service) watchdog(ctx context.Context) {
	interval, err := strconv.ParseInt(os.Getenv(watchdogVariable), 10, 64)
	if pid := os.Getenv(watchdogPID); err != nil || interval <= 1 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return
	}
	for ctx.Err() == nil {
		switch s.status().State {
		case hook.StateReady, hook.StateStarting, hook.StateStopping:
			s.notify("WATCHDOG=1")
		}
		hook.Within(ctx.Done(), time.Duration(interval)*time.Microsecond/2)
	}
}

// Hangups returns the channel for [Options], and a function that handles SIGHUP. do returns false
// if this process was started on a terminal and not by a service manager. SIGHUP then means that
// the terminal closed. The capacity of the channel is one, because one restart is enough for all
// earlier signals.
func Hangups() (hangups <-chan struct{}, do func() bool) {
	c := make(chan struct{}, 1)
	if os.Getenv(notifyVariable) == "" && hasTerminal() {
		return c, func() bool { return false }
	}
	return c, func() bool {
		select {
		case c <- struct{}{}:
		default:
		}
		return true
	}
}

// followHangups restarts the workers on SIGHUP, until ctx ends or the service stops. A SIGHUP from
// before the plugin was ready counts, because the plugin may have loaded older files.
func (s *Service) followHangups(ctx context.Context) {
	stopping, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.server.Stopping(), cancel)()
	for {
		select {
		case <-stopping.Done():
			return
		case <-s.o.Hangups:
		}
		if err := s.Restart(ctx, "restarted by SIGHUP"); err != nil && stopping.Err() == nil {
			s.noteBroken("SIGHUP: the plugin", err)
		}
	}
}

// hasTerminal reports whether this process has a controlling terminal.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	_ = f.Close() // Close fails if the file is nil
	return err == nil
}
