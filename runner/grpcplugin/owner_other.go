//go:build !linux

package grpcplugin

// checkOwner accepts every address: only Linux says whose a socket is.
func checkOwner(leader int, network, address string) error { return nil }
