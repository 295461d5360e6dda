"""Serves a plugin over gRPC as go-plugin hosts expect it, but without a controller."""

import asyncio
import os
import signal
import sys

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from mmsdk import hooks_pb2

COOKIE = "MATTERMOST_PLUGIN", "Securely message teams, anywhere."


def handlers(plugin):
    hooks = plugin.hooks()

    async def implemented(request, context):
        return hooks_pb2.Names(names=sorted(hooks))

    def method(do, takes):
        return grpc.unary_unary_rpc_method_handler(
            do, request_deserializer=takes.FromString, response_serializer=lambda m: m.SerializeToString())

    def call(do):
        async def handler(request, context):
            return hooks_pb2.Text(text=do(request.text))
        return handler

    methods = {"Implemented": method(implemented, hooks_pb2.Nothing)}
    methods.update((name, method(call(do), hooks_pb2.Text)) for name, do in hooks.items())
    return grpc.method_handlers_generic_handler("mattermost.PluginHooks", methods)


async def serve(plugin):
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((handlers(plugin),))
    servicer = health.aio.HealthServicer()
    for name in "plugin", "":
        await servicer.set(name, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print("1|1|tcp|127.0.0.1:%d|grpc" % port, flush=True)
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(asked.set))
    await asked.wait()
    await server.stop(grace=1)


def run(plugin):
    key, value = COOKIE
    if os.environ.get(key) != value:
        sys.exit("this is a plugin, which Mattermost starts")
    asyncio.run(serve(plugin))
