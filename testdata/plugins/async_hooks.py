"""Has hooks that are coroutines, so that many can run at once."""

import asyncio
import contextvars

_waiting = []
_tag = contextvars.ContextVar("tag", default="")


def _mark(path: str):
    """Create an empty file, so that a test can observe the progress."""
    if path:
        open(path, "w").close()


async def echo(value=None, delay: float = 0.0):
    """Return the argument after a delay."""
    await asyncio.sleep(delay)
    return value


async def meet(party: int = 2) -> int:
    """Wait until `party` calls run at once; return this call's number."""
    here = asyncio.get_event_loop().create_future()
    _waiting.append(here)
    number = len(_waiting)
    if number == party:
        for other in _waiting:
            other.set_result(None)
        del _waiting[:]
    await here
    return number


async def hang(started: str = "", cancelled: str = ""):
    """Wait forever; create files at the start and on cancellation."""
    _mark(started)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        _mark(cancelled)
        raise


async def swallow(started: str = ""):
    """Wait forever, and ignore cancellation."""
    _mark(started)
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass


async def block(seconds: float = 3600.0):
    """Block the event loop, as a coroutine must not."""
    import time

    time.sleep(seconds)


async def loop_id() -> int:
    """Return the id of the event loop, the same for every call."""
    return id(asyncio.get_event_loop())


async def tag(name: str) -> str:
    """A context variable: each call has its own."""
    before = _tag.get()
    _tag.set(name)
    await asyncio.sleep(0)
    return before + _tag.get()


async def background(marker: str) -> str:
    """Start a task that continues after the answer and writes the marker."""

    async def later():
        await asyncio.sleep(0)
        _mark(marker)

    asyncio.ensure_future(later())
    return "answered"


async def fail(message: str = "in a coroutine"):
    """Raise after one iteration of the loop."""
    await asyncio.sleep(0)
    raise ValueError(message)


async def cancel_self():
    """Cancel its own task without a request."""
    asyncio.current_task().cancel()
    await asyncio.sleep(0)


def plain(value: int = 1) -> int:
    """A plain function among the coroutines."""
    return value + 1
