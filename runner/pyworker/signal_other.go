//go:build !linux

package pyworker

// stackSignal is 0: without real-time signals there is none that a user's code
// could not want for itself.
const stackSignal = 0
