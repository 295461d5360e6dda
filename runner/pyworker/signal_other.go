//go:build !linux

package pyworker

// stackSignal is 0, no signal: without real-time signals, the plugin may use every signal itself.
const stackSignal = 0
