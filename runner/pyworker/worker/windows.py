"""Interrupts calls on Windows, where no process can send SIGINT and nothing can wait for a pipe.

So pyplug sets an event that a thread waits for, and the thread raises SIGINT.
"""

import _signal
import msvcrt
from _thread import start_new_thread

import _pyplug_worker as core
import _winapi


def watch(event):
    """Raises SIGINT in this process whenever the event, a handle, is set."""

    def wait():
        while _winapi.WaitForSingleObject(event, _winapi.INFINITE) == _winapi.WAIT_OBJECT_0:
            _signal.raise_signal(_signal.SIGINT)

    start_new_thread(wait, ())


def has_input(timeout=None):
    """Reports at once whether there is input, or its end. It returns False while the thread of the event loop reads."""
    if core.loop is not None and not core.loop.add_chunk():
        return False
    try:
        return _winapi.PeekNamedPipe(msvcrt.get_osfhandle(core.source), 0)[0] > 0
    except OSError:  # pyplug is gone
        return True

