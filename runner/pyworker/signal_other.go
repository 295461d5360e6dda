//go:build !linux

package pyworker

// stackSignal is 0. Without real-time signals, a plugin may use every signal itself.
const stackSignal = 0
