// Package proc owns every process that pyplug starts. A [Process] is a process of the operating
// system and the whole tree below it.
//
//  1. [Start] starts a child in its own process group. The child never gets pyplug's standard
//     input. Its environment lacks the variables that mislead Python ([Environ]).
//  2. The package always reads the child's streams, in bounded memory, and delivers them
//     line by line. A child that speaks a protocol has two pipes for it, the [Conn], on
//     descriptors above the standard ones.
//  3. Only the process's own exit means death, never a closed pipe. After the exit, the package
//     kills the group, then reaps the leader: until then the group's number cannot belong to
//     another process. A process that left the group becomes pyplug's orphan. The sweep recognizes
//     it by its tag, an environment variable, or because no other living process could have started
//     it. The sweep kills and reaps orphans until it finds none. Then Done is closed. Exit names
//     the processes that had to be killed.
//  4. Stop walks the stop ladder: ask, close the connection, SIGTERM (or SIGINT, if
//     only that is caught), grace period, the stacks of a hung Python, SIGKILL. It
//     signals the whole group and returns when the tree is gone.
//  5. When pyplug is killed, the lifeline makes the kernel kill the group: each child holds
//     the read end of a pipe, and only pyplug has the write end. When that closes, the
//     kernel sends SIGKILL to the pipe's owner, the group. The guard, one per pyplug, kills
//     processes that left their group, and removes the temporary directory ([TempDir]).
//  6. The package measures the memory of a process with [Spec.MaxMemory] ten times a second.
//     It kills a tree that exceeds the limit.
//  7. A process that was started with Forks forks others on request ([Process.Fork]). Each
//     is a Process like any other. A pidfd reports its death. The process that forked it
//     reports its exit status. If that process is gone, the system reports it.
//  8. [Run] runs a tool to its end. [Close] ends everything.
//
// [Lacks] says which of these promises the system cannot keep.
//
// The package does not know hooks, protocols, restarts or output.
package proc
