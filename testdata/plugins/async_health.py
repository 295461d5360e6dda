"""Has a health function that is a coroutine."""

import asyncio


async def health() -> dict:
    """Healthy."""
    await asyncio.sleep(0)
    return {"status": "serving"}
