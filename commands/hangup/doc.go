// Package hangup catches SIGHUP before the rest of the program initialises: a service manager may
// send it at any moment of a start.
//
//  1. Its init runs early, because of its import path and few imports.
//  2. It only keeps the signal, in [C]. The caller decides what it means.
//
// A process that was started to ignore SIGHUP, as by nohup, goes on ignoring it.
package hangup
