// Package handshake reads the line by which a go-plugin program says where it
// serves, and the environment by which a host asks for it:
//
//	CORE|APP|NETWORK|ADDRESS[|PROTOCOL[|CERTIFICATE[|MULTIPLEXING]]]
//
// as docs/internals.md of github.com/hashicorp/go-plugin describes it, and as its
// client.go reads it. [Fields] says what each field is.
//
//  1. [Env] is what a host adds to the plugin's environment.
//     [Variables] are what it does not pass on of another host's.
//  2. [Looks] tells the line from what else a program prints before it.
//  3. [Parse] cuts it into a [Line]. What go-plugin forgives is forgiven; what it
//     does not, but can still be understood, is a [Note] that says so.
//  4. [Line.Verify] holds it to what was asked for and to what is safe to connect
//     to: gRPC, core version 1, a loopback address or a Unix socket of ours.
//
// Every [Error] knows the field, what was seen and what was wanted, and draws it.
//
// It never knows processes, files or the network: whether a path is a socket,
// whether anything listens there, and whose it is, is for others to find out.
package handshake
