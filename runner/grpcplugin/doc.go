// Package grpcplugin starts gRPC plugins: programs that print go-plugin's handshake line and serve
// gRPC.
//
//  1. [Launcher.Launch] starts the program with package proc and reads its handshake line. It
//     tolerates lines before that, and reports them as [Evidence].
//  2. If the line is valid, go-plugin's client reattaches to the program.
//  3. gRPC's client dials with a function of the launch. The launch waits until TLS and HTTP/2
//     work. Before anything is sent, [CheckPeer] asks the system whether the other end of the
//     connection belongs to the plugin's own processes.
//  4. The launch asks the health service for its status.
//  5. Server reflection describes the methods. Without it, the caller finds descriptors
//     while the plugin starts. The user may name more. A call uses the descriptors to
//     convert JSON to messages.
//  6. A number in a request may stand for a service of the host. The broker announces each
//     number to the plugin with the address of a server without services, so that the plugin
//     learns at once that the service is missing.
//  7. A status that the plugin answers is a failed hook. A broken connection is a crash if
//     the process exits.
//  8. A call that times out is canceled. The plugin does not confirm that, so the error is marked
//     as unanswered. The probes of the pool find out whether the plugin still responds.
//  9. [Instance.Stop] walks the ladder: the Shutdown RPC, the end of the connection, then proc's
//     signals. It never uses go-plugin's Kill.
//
// An error is a [*hook.Error] with hints. Its Reason is one of the constants here.
//
// The package does not know Python sources, .proto files, restarts, or how anything is printed.
package grpcplugin
