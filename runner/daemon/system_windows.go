package daemon

import (
	"net"
	"os"
	"syscall"
)

const supported = false

const noFollow = 0

// No name can be acquired on Windows, so nothing calls these.

func checkPeer(*net.UnixConn) error  { return errWindows }
func terminate(p *os.Process) error  { return p.Kill() }
func redirect(*os.File) error        { return errWindows }
func detached() *syscall.SysProcAttr { return nil }
func inheritedPipe(int) bool         { return false }
func watch(int) func(bool)           { return func(bool) {} }
func concealDescriptors()            {}
