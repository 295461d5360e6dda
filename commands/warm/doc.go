// Package warm answers a few plain command lines before the rest of pyplug is
// ready, and leaves all others alone.
//
// Where an empty Go program takes 1.2 ms and grpc-health-probe 5.3 ms, asking a
// server for its health took pyplug 6.6 ms, most of it for initialising protobuf,
// gRPC, gob and their like, and for gRPC's own goroutines; it takes 2.7 ms this
// way. Go initialises packages in the order of their import paths, each as soon
// as what it imports is ready. This one imports so little that its turn comes
// before all of those. Package net would make it wait for them, so connections
// are made by system calls here; so would strings and bufio.
//
// A call of a background plugin's hook takes 2.2 ms this way, where a C program
// that does the same takes 1.1 ms.
//
//  1. init looks at the command line, the environment and standard output. What
//     it does not know to the letter it leaves.
//  2. health.go asks grpc.health.v1.Health over a connection of socket.go, to an
//     address that address.go can read: an IP, localhost, or a socket's path.
//  3. http2.go sends the request in one write, and response.go takes the answer
//     frame by frame. A frame, a header or a byte that is not expected ends it.
//  4. A plain result, which is SERVING, is printed and ends the program. On
//     anything else init returns, silently and with everything closed, and the
//     ordinary way begins from the start. It alone has errors, limits and hints.
//
// A server may so be asked twice: a probe changes nothing. It has 250 ms for the
// first time.
//
//  5. call.go sends the words behind `call` as they are, over a socket of
//     local.go, in the frames of package wire. A plain result, which is one frame
//     with one line, is printed and ends the program.
//  6. A call that was sent is never sent again: what is not plain, or does not
//     come within 200 ms, is left in wire with its connection, and the ordinary
//     way goes on from there. Interrupting pyplug meanwhile ends it, and with it
//     the connection, which cancels the call.
//
// Another command that is to have a warm way gets a file beside these and a case
// in init. Where the package has no system calls, it is empty.
//
// It never knows hints, colours, names that need a resolver, TLS, or what any
// answer but the plain one means.
package warm
