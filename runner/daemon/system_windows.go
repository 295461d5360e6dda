package daemon

import (
	"io/fs"
	"net"
	"os"
	"syscall"
)

const supported = false

const noFollow = 0

// No name can be acquired here, so nothing calls these.

func flock(*os.File, bool) error     { return errWindows }
func owner(fs.FileInfo) int          { return 0 }
func checkPeer(*net.UnixConn) error  { return errWindows }
func terminate(p *os.Process) error  { return p.Kill() }
func redirect(*os.File) error        { return errWindows }
func detached() *syscall.SysProcAttr { return nil }
func inheritedPipe(int) bool         { return false }
func watch(int) func(bool)           { return func(bool) {} }
func concealDescriptors()            {}
