package guard

const (
	// Variable makes a process the guard. Its value is the run: random digits that identify one
	// process of pyplug.
	Variable = "PYPLUG_GUARD"
	// Name is the guard's argv[0].
	Name = "pyplug-guard"
	// Pipe is the descriptor from which the guard reads its messages.
	Pipe = 3
	// Tag is the environment variable that marks the processes of a run. Children inherit it, even
	// if they leave the group, the session or their parent. Its value is one element "RUN.NUMBER",
	// or several separated by colons if pyplug runs inside a plugin of another pyplug.
	Tag = "PYPLUG_RUN"
)

// Messages to the guard. Each is a word, an argument and a zero byte.
const (
	// Temp names a directory to remove.
	Temp = "temp "
	// Group and GroupEnded report the start and the end of a process group.
	Group      = "group "
	GroupEnded = "ended "
)
