// Package health asks a server for its health before the rest of pyplug is ready:
// see package warm.
//
// Where an empty Go program takes 1.2 ms and grpc-health-probe 5.3 ms, it took
// pyplug 6.6 ms, most of it for initialising protobuf, gRPC, gob and their like, and
// for gRPC's own goroutines; it takes 2.7 ms this way. Package net would make this
// one wait for them, so connections are made by system calls here; so would strings
// and bufio.
//
//  1. health.go asks grpc.health.v1.Health over a connection of socket.go, to an
//     address that address.go can read: an IP, localhost, or a socket's path.
//  2. http2.go sends the request in one write, and response.go takes the answer
//     frame by frame. A frame, a header or a byte that is not expected ends it.
//  3. A plain result, which is SERVING, is printed and ends the program. On
//     anything else init returns, with everything closed.
//
// A server may so be asked twice: a probe changes nothing. It has 250 ms for the
// first time.
//
// It never knows names that need a resolver, TLS, or what any answer but the plain
// one means.
package health
