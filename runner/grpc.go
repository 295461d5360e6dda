package runner

import (
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
)

// Program says how a gRPC plugin is started.
type Program = grpcplugin.Config

// Evidence records what a gRPC plugin did while it started.
type Evidence = grpcplugin.Evidence

// exited reports whether a process has exited, even if children of a gRPC plugin still run.
func exited(inst hook.Instance) bool {
	g, _ := inst.(*grpcplugin.Instance) // nil otherwise
	return g != nil && g.Exited() || hook.IsClosed(inst.Done())
}
