// Package proc owns every process that pyplug starts: one [Process] is an
// operating system's process and the whole tree below it.
//
//  1. [Start] gives the child its own group, a standard input that is not
//     ours, and an environment without what misleads Python ([Environ]).
//  2. Its streams are always read, in bounded memory, and told line by line;
//     a child that talks a protocol on descriptors 0 and 1 gets a [Conn].
//  3. Death is known from the process's own exit, never from a closed pipe.
//     Then the group is killed before the leader is reaped, so that its number
//     cannot be anybody else's; what left the group is recognised by the marks
//     of package guard, swept and reaped; and only then is Done closed. What
//     was still there then, and did not go by itself, is told as left behind.
//  4. Stop walks the stop ladder: ask, close the connection, SIGTERM (or
//     SIGINT, if only that is caught), grace, the stacks of a hung Python,
//     SIGKILL. To the whole group, and it returns when the tree is gone.
//  5. When pyplug itself is killed, the kernel kills the group: each child
//     holds the read end of a pipe whose owner is its group, whose signal is
//     SIGKILL and whose write end only pyplug has, the lifeline. The guard,
//     one per pyplug, started beside the first child, ends what had left the
//     group and removes the temporary directories ([TempDir],
//     [ShortTempDir]).
//  6. What has [Limits] is looked at ten times a second while it lives. With too
//     much memory the tree is killed; with too much CPU time the group is stopped
//     for a while, unless it is being interrupted or stopped for good.
//  7. A process that was started with Forks is asked to fork others
//     ([Process.Fork]), each of which is a Process like any other. Their death
//     is told by a pidfd, and the status by their parent, or by the system once
//     that is gone and they are our orphans.
//  8. [Run] runs a tool to its end on top of all that. [Close] puts an end to
//     everything that the package holds.
//
// [Lacks] says what of this the system cannot do.
//
// It never knows hooks, Python's part of a protocol, restarts or output.
package proc
