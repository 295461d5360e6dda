package daemon

import (
	"net"
	"time"
)

// notifyTimeout is how long a service manager may take to read.
const notifyTimeout = time.Second

// Notify reports this process's state, such as "READY=1", to the service manager that
// started it, as sd_notify(3) does. socket is the value of NOTIFY_SOCKET: a path, or an
// abstract name that begins with "@". If it is empty, Notify does nothing.
func Notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	defer conn.Close() // a datagram is sent when it is written
	_ = conn.SetWriteDeadline(time.Now().Add(notifyTimeout))
	_, err = conn.Write([]byte(state))
	return err
}
