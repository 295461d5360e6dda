"""Reports the health that UNHEALTHY in the environment or the hook `become` sets.

One of: none, true, false, reason, raise, dict, dict_ok, number, slow, exit.
"""

import os
import time

_mood = os.environ.get("UNHEALTHY", "reason")


def become(mood: str) -> str:
    """Set the health for the next probes."""
    global _mood
    _mood = mood
    return mood


def health():
    """Return the health."""
    if _mood == "raise":
        raise RuntimeError("the database is gone")
    if _mood == "slow":
        time.sleep(3600)
    if _mood == "exit":
        os._exit(7)
    return {
        "none": None,
        "true": True,
        "false": False,
        "reason": "the model is not loaded",
        "dict": {"status": "degraded", "queue": 12},
        "dict_ok": {"status": "ok"},
        "number": 3,
    }[_mood]


def work() -> str:
    """Works regardless."""
    return "done"
