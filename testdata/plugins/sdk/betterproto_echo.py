"""A plugin on grpclib with a message of betterproto: it echoes a text."""

import asyncio
from dataclasses import dataclass

import betterproto
from grpclib.const import Cardinality, Handler
from grpclib.server import Server


@dataclass
class Text(betterproto.Message):
    value: str = betterproto.string_field(1)


class Echo:
    async def say(self, stream):
        request = await stream.recv_message()
        await stream.send_message(Text(value=request.value.upper()))

    def __mapping__(self):
        return {"/echo.Echo/Say": Handler(self.say, Cardinality.UNARY_UNARY, Text, Text)}


async def main():
    server = Server([Echo()])
    await server.start("127.0.0.1", 0)
    port = server._server.sockets[0].getsockname()[1]
    print(f"1|1|tcp|127.0.0.1:{port}|grpc", flush=True)
    await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(main())
