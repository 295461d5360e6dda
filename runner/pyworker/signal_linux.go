package pyworker

// stackSignal makes a worker show its stacks. It is a real-time signal near the
// end of the range, which no program is known to use.
const stackSignal = 62
