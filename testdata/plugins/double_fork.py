"""Leaves a daemon behind: forked twice, in its own session."""

import os
import time


def daemonize(seconds: float = 3600.0, close: bool = False, clear: bool = False) -> int:
    """Start the daemon and return its id. It may close its streams and clear its environment."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read, "rb") as pipe:
            return int(pipe.read())
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.write(write, str(os.getpid()).encode())
        os.close(write)
        if close:
            os.closerange(0, 256)
        if clear:
            sleep = ["sleep", str(seconds)]
            os.execve("/bin/sleep", sleep, {})
        time.sleep(seconds)
    finally:
        os._exit(0)
