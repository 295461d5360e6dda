"""Plugins and their hooks."""


def hook(method):
    """Marks a method that Mattermost calls by its name."""
    method.is_hook = True
    return method


class Plugin:
    def hooks(self):
        found = {name: getattr(self, name) for name in dir(type(self))}
        return {name: method for name, method in found.items() if getattr(method, "is_hook", False)}
