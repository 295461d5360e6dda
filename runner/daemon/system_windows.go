package daemon

import (
	"net"
	"os"
	"syscall"
)

// A name cannot be taken here, so that none of this is reached.

func processMark(int) string           { return "" }
func bootMark() string                 { return "" }
func checkPeer(*net.UnixConn) error    { return errWindows }
func (id Identity) kill() error        { return errWindows }
func redirect(*os.File) error          { return errWindows }
func concealDescriptors()              {}
func signalOf(*os.ProcessState) string { return "" }
func detached() *syscall.SysProcAttr   { return nil }
func terminate(p *os.Process)          { _ = p.Kill() }
func takePipe(int) bool                { return false }
