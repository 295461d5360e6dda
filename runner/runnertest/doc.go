// Package runnertest holds the conformance suite of the transports and helpers that
// several packages' tests share. Only tests import it.
//
//  1. The test of a transport fills a [Suite] with a launcher and with calls that
//     make its plugin echo, raise, hang, stream and exit.
//  2. [Suite.Run] checks the contracts of package hook with them.
//  3. [NothingLeft] checks that a test leaves no goroutine and no descriptor.
//
// It does not know how a transport works.
package runnertest
