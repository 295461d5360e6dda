// Package warm is the ground that the warm way stands on: a few plain command
// lines are answered before the rest of pyplug is ready, and all others are left
// alone. Each such command is a package below this one, whose init is its way.
//
// Go initialises packages in the order of their import paths, each as soon as what
// it imports is ready. What imports little enough has its turn before protobuf,
// gRPC, gob and their like, which take longer than an empty Go program.
//
//  1. An init looks at the command line, and leaves what it does not know to the
//     letter. [Plain] looks at the environment and standard output.
//  2. A plain result is printed by [End], which ends the program.
//  3. On anything else the init returns, silently, and the ordinary way begins from
//     the start. It alone has errors, limits and hints.
//
// This package imports syscall alone, and neither os nor strings, which would hold
// up those below: see package call. Where it has no system calls, it is empty.
//
// It never knows the commands.
package warm
