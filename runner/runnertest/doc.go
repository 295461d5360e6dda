// Package runnertest contains the conformance suite of the transports and helpers that the tests of
// several packages share. Only tests import it.
//
//  1. The test of a transport fills a [Suite] with a launcher and with calls that make its plugin
//     echo, raise, hang, stream and exit.
//  2. [Suite.Run] uses them to check the contracts of package hook.
//  3. [NothingLeft] checks that a test leaves no goroutine and no descriptor.
//
// It does not know how a transport works.
package runnertest
