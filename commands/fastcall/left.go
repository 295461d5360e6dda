package fastcall

import "os"

// Left is a call that fastcall has sent and whose answer it has not handled. The caller of [Take]
// continues the call.
type Left struct {
	Dir  string // the run directory
	Name string
	Conn *os.File // the connection
	Read []byte   // the bytes that were read from Conn
}

var left *Left

// Take returns the call that fastcall has left, or nil. It returns the call only once. On Windows
// fastcall never sends a call.
func Take() *Left {
	taken := left
	left = nil
	return taken
}
