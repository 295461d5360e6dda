package runner

import "github.com/pyplug/pyplug/runner/grpcplugin"

// Program says how a gRPC plugin is started.
type Program = grpcplugin.Config

// Evidence records what a gRPC plugin did while it started.
type Evidence = grpcplugin.Evidence
