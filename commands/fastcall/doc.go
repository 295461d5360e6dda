// Package fastcall makes a plain `pyplug call NAME HOOK ARG...` before the rest of the program is
// initialized, which takes longer than the call itself.
//
//  1. Its init runs early, because of its import path and few imports. A test checks that. init
//     leaves every command line except a plain call to the ordinary code.
//  2. It sends one request to the daemon and reads one answer, see docs/http.md.
//  3. It prints a plain result and ends the process. For any other answer, and after 200 ms, it
//     passes the connection on, see [Take]. A call that was sent is never sent again.
//
// The package does not know flags or files, and understands only plain results.
package fastcall
