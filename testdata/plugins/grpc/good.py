"""A gRPC plugin as hosts expect it: it passes `pyplug check --strict`."""

import os
import signal
import sys
import threading
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import zoo_pb2

LEAVE = threading.Event()


def echo(request, context):
    return request


def shutdown(request, context):
    LEAVE.set()
    return b""  # an empty message


def main():
    # Check the magic cookie first, for people who start the plugin by hand.
    if os.environ.get("ZOO_COOKIE") != "monkey":
        sys.exit("this is a plugin, which its host starts")
    signal.signal(signal.SIGTERM, lambda *_: LEAVE.set())

    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler("zoo.Zoo", {
            "Echo": grpc.unary_unary_rpc_method_handler(
                echo, request_deserializer=zoo_pb2.Text.FromString, response_serializer=zoo_pb2.Text.SerializeToString),
        }),
        # A host calls Shutdown; without the method it waits 2 s and kills.
        grpc.method_handlers_generic_handler("plugin.GRPCController", {
            "Shutdown": grpc.unary_unary_rpc_method_handler(shutdown),
        }),
    ))
    servicer = health.HealthServicer()
    servicer.set("plugin", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    # The first line of standard output, flushed because a pipe is buffered.
    print("1|1|tcp|127.0.0.1:%d|grpc" % port, flush=True)
    LEAVE.wait()
    server.stop(grace=1).wait()


if __name__ == "__main__":
    main()
