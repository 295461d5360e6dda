"""A plugin for saturn-bot, on its SDK. It accepts the repositories whose name it is given."""

from saturn_bot import Plugin, serve_plugin


class Hello(Plugin):
    name = "hello"

    def init(self, config):
        self.wanted = config.get("repository", "")

    def filter(self, ctx):
        return ctx.repository.full_name == self.wanted


if __name__ == "__main__":
    serve_plugin(Hello())
