package daemon

import (
	"net"
	"os"
	"syscall"
)

// No name can be acquired here, so nothing calls these.

func processMark(int) string                    { return "" }
func suspended(int) bool                        { return false }
func bootMark() string                          { return "" }
func checkPeer(*net.UnixConn) error             { return errWindows }
func (id Identity) signal(syscall.Signal) error { return errWindows }
func redirect(*os.File) error                   { return errWindows }
func concealDescriptors()                       {}
func signalOf(*os.ProcessState) string          { return "" }
func detached() *syscall.SysProcAttr            { return nil }
func terminate(p *os.Process)                   { _ = p.Kill() }
func inheritedPipe(int) bool                    { return false }
