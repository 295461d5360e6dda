// Package runnertest holds what every transport must pass, and what tests of
// several rooms share. Only tests import it.
//
//  1. A transport's test fills a [Suite] with a launcher and with the calls
//     that make its plugin echo, raise, hang, stream and die.
//  2. [Suite.Run] holds the transport to the promises of package hook.
//  3. After each test nothing is left: no process, no goroutine, no descriptor.
//
// It never knows how a transport speaks.
package runnertest
