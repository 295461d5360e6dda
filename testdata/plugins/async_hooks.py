"""Has coroutines for hooks, many of which may run at once."""

import asyncio
import contextvars

_waiting = []
_tag = contextvars.ContextVar("tag", default="")


def _mark(path: str):
    """Make an empty file, so that a test knows how far this came."""
    if path:
        open(path, "w").close()


async def echo(value=None, delay: float = 0.0):
    """What it was given, after a while."""
    await asyncio.sleep(delay)
    return value


async def meet(party: int = 2) -> int:
    """Wait until so many calls are here at once; which of them this is."""
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
    """Wait for ever; the files tell that it began, and that it was cancelled."""
    _mark(started)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        _mark(cancelled)
        raise


async def swallow(started: str = ""):
    """Wait for ever, and take no cancelling."""
    _mark(started)
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass


async def block(seconds: float = 3600.0):
    """Hold up the loop, as a coroutine must not."""
    import time

    time.sleep(seconds)


async def loop_id() -> int:
    """Which loop it runs in: the same for every call."""
    return id(asyncio.get_event_loop())


async def tag(name: str) -> str:
    """A context variable: each call has its own."""
    before = _tag.get()
    _tag.set(name)
    await asyncio.sleep(0)
    return before + _tag.get()


async def background(marker: str) -> str:
    """Leave a task that goes on after the answer and writes the marker."""

    async def later():
        await asyncio.sleep(0)
        _mark(marker)

    asyncio.ensure_future(later())
    return "answered"


async def fail(message: str = "in a coroutine"):
    """Raise after a turn of the loop."""
    await asyncio.sleep(0)
    raise ValueError(message)


async def cancel_self():
    """Cancel the task it runs in, which nobody asked for."""
    asyncio.current_task().cancel()
    await asyncio.sleep(0)


def plain(value: int = 1) -> int:
    """A plain function among them."""
    return value + 1
