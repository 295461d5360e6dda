"""A plugin for Mattermost. Only its SDK uses gRPC."""

from mmsdk import Plugin, hook, run


class Notes(Plugin):
    def __init__(self):
        self.notes = []

    @hook
    def ExecuteCommand(self, text):
        self.notes.append(text)
        return "%d notes" % len(self.notes)

    @hook
    def MessageWillBePosted(self, text):
        return text.strip()


if __name__ == "__main__":
    run(Notes())
