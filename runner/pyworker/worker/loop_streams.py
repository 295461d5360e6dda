"""Streams of items on the event loop, from generators and async generators.

Loaded with the first one. An async generator runs on the loop; a generator, as any plain
hook, while the loop is idle.
"""

import asyncio
from contextvars import copy_context
from time import monotonic

import _pyplug_worker as core

WINDOW = 262144  # bytes of items that may be under way
BUSY = 0.002  # seconds that a stream may keep the loop from other work

event_loop = core.part("event_loop")
values = core.part("values")
errors = core.part("errors")


class Window:
    """How much more a stream may send."""

    def __init__(self):
        self.credit = WINDOW
        self.more = None

    async def take(self, size):
        """Waits until size bytes may come."""
        while size > self.credit < WINDOW:
            self.more = event_loop.loop.create_future()
            await self.more
        self.credit -= size

    def grant(self, size):
        self.credit += size
        if self.more is not None and not self.more.done():
            self.more.set_result(None)


async def send_async(number, items):
    """Sends what an async generator yields."""
    window = event_loop.windows[number] = Window()
    looked = monotonic()
    try:
        async for item in items:
            await send_item(number, window, item)
            if monotonic() - looked > BUSY:
                await asyncio.sleep(0)
                looked = monotonic()
    finally:
        del event_loop.windows[number]
        if hasattr(items, "aclose"):
            await items.aclose()
    core.answer(core.END, number, b"")


async def send_items(number, generator):
    """Sends what a generator yields."""
    window, context = Window(), copy_context()
    event_loop.windows[number] = window
    try:
        while True:
            body = await event_loop.idle(context.run, pull, number, generator, window)
            if body is None:
                break
            if body:
                await window.take(len(body))
                core.answer(core.ITEM, number, body)
    finally:
        del event_loop.windows[number]
        await event_loop.idle(context.run, generator.close)
    core.answer(core.END, number, b"")


def pull(number, generator, window):
    """Sends what a generator yields, for a while. Returns an item that has to wait, b"" if none has, None at the end."""
    looked = monotonic()
    while monotonic() - looked < BUSY:
        if number in event_loop.interrupted:
            event_loop.stood[number] = errors.standing(generator)
            raise KeyboardInterrupt
        item = next(generator, window)
        if item is window:  # which no generator yields
            return None
        body = values.encode(item)
        if len(body) > window.credit < WINDOW:
            return body
        window.credit -= len(body)
        core.answer(core.ITEM, number, body)
    return b""


async def send_item(number, window, item):
    body = values.encode(item)
    await window.take(len(body))
    core.answer(core.ITEM, number, body)
