"""A gRPC plugin on asyncio, with the methods of zoo.proto that matter for it."""

import asyncio
import signal

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import zoo_pb2


async def echo(request, context):
    return request


async def fail(request, context):
    raise ValueError("on purpose")


async def hang(request, context):
    await asyncio.sleep(3600)


async def count(request, context):
    for n in range(request.n):
        yield zoo_pb2.Number(n=n)


def method(kind, do, takes):
    return kind(do, request_deserializer=takes.FromString, response_serializer=lambda m: m.SerializeToString())


async def serve():
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("zoo.Zoo", {
        "Echo": method(grpc.unary_unary_rpc_method_handler, echo, zoo_pb2.Text),
        "Fail": method(grpc.unary_unary_rpc_method_handler, fail, zoo_pb2.Text),
        "Hang": method(grpc.unary_unary_rpc_method_handler, hang, zoo_pb2.Text),
        "Count": method(grpc.unary_stream_rpc_method_handler, count, zoo_pb2.Number),
    }),))
    servicer = health.aio.HealthServicer()
    await servicer.set("plugin", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print("1|1|tcp|127.0.0.1:%d|grpc" % port, flush=True)
    # A server that outlives its event loop prints an error.
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(asked.set))
    await asked.wait()
    await server.stop(grace=1)


asyncio.run(serve())
