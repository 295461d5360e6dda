// Package proc owns every process that pyplug starts: a [Process] is a process of the
// operating system and the whole tree below it.
//
//  1. [Start] gives the child a group of its own, a standard input that is not ours,
//     and an environment without variables that mislead Python ([Environ]).
//  2. It always reads the child's streams, in bounded memory, and delivers them line
//     by line. A child that speaks a protocol on descriptors 0 and 1 gets a [Conn].
//  3. Death is known from the process's own exit, never from a closed pipe. Then the
//     group is killed before the leader is reaped, so that its number cannot belong
//     to another process. What left the group comes to us as an orphan; the sweep
//     recognises it by its tag, or because nobody else that lives could have started
//     it, and kills and reaps it, until there is none. Then Done is closed. Exit names
//     what was still there and did not exit by itself.
//  4. Stop walks the stop ladder: ask, close the connection, SIGTERM (or SIGINT, if
//     only that is caught), grace period, the stacks of a hung Python, SIGKILL. It
//     signals the whole group and returns when the tree is gone.
//  5. When pyplug is killed, the kernel kills the group by the lifeline: each child
//     holds the read end of a pipe whose owner is its group, whose signal is SIGKILL,
//     and whose write end only pyplug has. The guard, one per pyplug, kills what left
//     its group and removes the temporary directories ([TempDir], [ShortTempDir]).
//  6. The memory of a process with [Spec.MaxMemory] is checked ten times a second. Above the
//     limit the tree is killed.
//  7. A process that was started with Forks forks others on request ([Process.Fork]).
//     Each is a Process like any other. A pidfd reports its death, and the process
//     that forked it its status; when that one is gone, the system does.
//  8. [Run] runs a tool to its end. [Close] ends everything.
//
// [Lacks] says what of this the system cannot do.
//
// It never knows hooks, a protocol, restarts or output.
package proc
