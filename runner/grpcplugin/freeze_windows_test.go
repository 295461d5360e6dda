package grpcplugin_test

// freeze does what comes nearest to a process that answers nothing.
func freeze() { hang() }
