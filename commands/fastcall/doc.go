// Package fastcall makes a plain `pyplug call NAME HOOK ARG...` before the rest of
// the program initialises, which takes longer than the call itself.
//
//  1. Its init runs early, because of its import path and few imports; a test holds
//     that. It leaves every command line but a plain call to the ordinary way.
//  2. It sends one request to the daemon and reads one answer, see docs/http.md.
//  3. It prints a plain result and ends the process. Anything else, and what takes
//     longer than 200 ms, it hands on with the connection: see [Take]. A call that
//     was sent is never sent again.
//
// It never knows flags, files, or what any answer but a plain result means.
package fastcall
