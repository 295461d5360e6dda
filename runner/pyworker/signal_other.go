//go:build !linux

package pyworker

// stackSignal is 0: without real-time signals, a plugin may use every signal itself.
const stackSignal = 0
