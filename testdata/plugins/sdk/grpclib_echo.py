"""A plugin on the SDK python-plugin, whose server is grpclib's: it echoes a text.

Ask calls its host through the broker, at the number in the request.
"""

from google.protobuf.wrappers_pb2 import StringValue, UInt32Value
from grpclib.client import UnaryUnaryMethod
from grpclib.const import Cardinality, Handler
from grpclib.exceptions import GRPCError
from pyplugin import HandshakeConfig, Plugin, ServeConfig, serve


class Echo:
    def __init__(self, broker):
        self.broker = broker

    async def say(self, stream):
        await stream.send_message(await stream.recv_message())

    async def ask(self, stream):
        request = await stream.recv_message()
        async with await self.broker.dial(request.value) as channel:
            try:
                answer = await UnaryUnaryMethod(channel, "/echo.Host/Say", StringValue, StringValue)(StringValue())
            except GRPCError as error:
                answer = StringValue(value=error.message)
        await stream.send_message(answer)

    def __mapping__(self):
        return {
            "/echo.Echo/Say": Handler(self.say, Cardinality.UNARY_UNARY, StringValue, StringValue),
            "/echo.Echo/Ask": Handler(self.ask, Cardinality.UNARY_UNARY, UInt32Value, StringValue),
        }


class EchoPlugin(Plugin):
    def servicers(self, broker):
        return [Echo(broker)]

    def stub(self, broker, channel):
        raise NotImplementedError


if __name__ == "__main__":
    serve(ServeConfig(HandshakeConfig(1, "ECHO_PLUGIN", "hello"), {"echo": EchoPlugin()}))
