// Package grpcplugin starts gRPC plugins: programs that print go-plugin's
// handshake line and serve gRPC.
//
//  1. [Launcher.Launch] starts the program through go-plugin's client, whose
//     runner is a process of package proc: own group, no standard input of
//     ours, streams that are always read.
//  2. The first line that looks like a handshake is judged before go-plugin
//     sees it. What was printed before it is kept as evidence, in bounded
//     memory.
//  3. A connection is made only to an address that the plugin's own processes
//     listen on, within a limit, and over TLS where that was asked for.
//  4. The health service is asked, and judged by the status it answers.
//  5. Methods are described by server reflection, else by the descriptors that
//     the caller finds while the plugin starts; what a user named is joined to
//     them. A call is built from them; its messages are JSON on our side.
//  6. A status that the plugin answered is a failed hook. A lost connection is
//     a crash once the process is seen to be gone, with how it ended.
//  7. A call that runs out of time is cancelled; the process is condemned when
//     it does not answer a probe after that.
//  8. Stopping walks the ladder: the Shutdown RPC, the end of the connection,
//     and then proc's signals. go-plugin's own Kill is never used.
//
// [ProbeAddress] and [WatchAddress] ask the health of any gRPC server and start
// nothing.
//
// It never knows Python sources, .proto files, restarts, or how anything is
// printed.
package grpcplugin
