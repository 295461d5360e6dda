package pyworker

// What the tests need to act as a worker.
var NewFrame = newFrame

const (
	HeaderSize = headerSize
	Window     = window
)
