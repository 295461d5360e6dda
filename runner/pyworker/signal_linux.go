package pyworker

// stackSignal makes a worker print its stacks. It is a real-time signal near the
// end of the range that no program is known to use.
const stackSignal = 62
