"""What a plugin for Mattermost imports, in the manner of that server's own SDK."""

from mmsdk.plugin import Plugin, hook
from mmsdk.server import run

__all__ = ["Plugin", "hook", "run"]
