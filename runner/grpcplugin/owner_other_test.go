//go:build !linux

package grpcplugin_test

func shareAndServe(string) { hang() }
