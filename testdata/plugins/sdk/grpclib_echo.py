"""A plugin on the SDK python-plugin, whose server is grpclib's: it echoes a text."""

from google.protobuf.wrappers_pb2 import StringValue
from grpclib.const import Cardinality, Handler
from pyplugin import HandshakeConfig, Plugin, ServeConfig, serve


class Echo:
    async def say(self, stream):
        await stream.send_message(await stream.recv_message())

    def __mapping__(self):
        return {"/echo.Echo/Say": Handler(self.say, Cardinality.UNARY_UNARY, StringValue, StringValue)}


class EchoPlugin(Plugin):
    def servicers(self, broker):
        return [Echo()]

    def stub(self, broker, channel):
        raise NotImplementedError


if __name__ == "__main__":
    serve(ServeConfig(HandshakeConfig(1, "ECHO_PLUGIN", "hello"), {"echo": EchoPlugin()}))
