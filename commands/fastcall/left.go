package fastcall

import "os"

// Left is a call that was sent and not answered here. The caller of [Take] continues it.
type Left struct {
	Dir  string // the run directory
	Name string
	Conn *os.File // the connection
	Read []byte   // what was read from it
}

var left *Left

// Take returns the call that was left, once; nil if none was. On Windows none is ever sent.
func Take() *Left {
	taken := left
	left = nil
	return taken
}
