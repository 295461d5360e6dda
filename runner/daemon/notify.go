package daemon

import (
	"net"
	"time"
)

// notifyPatience bounds how long a service manager may take to read.
const notifyPatience = time.Second

// Notify tells the service manager that started this process of its state, such
// as "READY=1", as sd_notify(3) has it. socket is what NOTIFY_SOCKET names: a
// path, or an abstract name that begins with "@". Where there is none, nothing is
// told.
func Notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	conn, err := net.DialTimeout("unixgram", socket, notifyPatience)
	if err != nil {
		return err
	}
	defer conn.Close() // a datagram is sent when it is written
	if err := conn.SetWriteDeadline(time.Now().Add(notifyPatience)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	return err
}
