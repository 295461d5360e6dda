// Package handshake reads the line in which a go-plugin program prints its address, and builds the
// environment in which a host asks for that line:
//
//	CORE|APP|NETWORK|ADDRESS[|PROTOCOL[|CERTIFICATE[|MULTIPLEXING]]]
//
// docs/internals.md and client.go of github.com/hashicorp/go-plugin define the format.
//
//  1. [Env] returns the variables that a host adds to the plugin's environment.
//     [Variables] lists the variables of an outer host that it must not pass on.
//  2. [Looks] distinguishes a handshake line from other output.
//  3. [Parse] splits a line into a [Line]. It accepts every line that go-plugin accepts. It
//     also accepts unambiguous lines that go-plugin rejects, with a [Note].
//  4. [Line.Resolve] replaces the name localhost.
//  5. [Line.Verify] checks the line against the request and for safety: gRPC, core
//     version 1, a loopback address or a Unix socket in an allowed directory.
//
// An [Error] names the field, the text that the plugin printed and the expected text.
// [Error.Drawing] marks the fault in the line.
//
// The package does not know processes, files or the network, so it does not check whether a socket
// exists, whether anything listens there, or who owns it.
package handshake
