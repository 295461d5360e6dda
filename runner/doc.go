// Package runner is the façade of pyplug: it makes a plugin's path callable.
//
//  1. [Open] resolves the path and its manifest, settles every setting (flag,
//     environment, manifest, default), and finds the interpreter.
//  2. It chooses the transport, and with it the launcher.
//  3. It launches one instance and returns it as a [Session].
//  4. The session is a [hook.Caller]; [Session.Close] ends what it started.
//  5. [Session.Keep] keeps workers alive instead, and returns them as a [Kept]:
//     a pool of supervisors, which share the launcher.
//
// It never knows flags, output, or who calls.
package runner
