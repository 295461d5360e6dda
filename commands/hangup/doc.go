// Package hangup catches SIGHUP before the rest of the program is initialized, because a service
// manager may send it at any moment of a start.
//
//  1. Its init runs early, because of its import path and few imports.
//  2. It only keeps the signal, in [C]. The caller decides what the signal means.
//
// A process that was started to ignore SIGHUP, for example by nohup, keeps ignoring it.
package hangup
