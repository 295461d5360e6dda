package grpcplugin_test

// freeze hangs, which is similar to a stopped process.
func freeze() { hang() }
