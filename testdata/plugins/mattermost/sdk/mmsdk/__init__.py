"""The SDK that a Mattermost plugin imports, similar to Mattermost's own."""

from mmsdk.plugin import Plugin, hook
from mmsdk.server import run

__all__ = ["Plugin", "hook", "run"]
