"""A gRPC plugin that listens on the port in PORT, and shares it if REUSE is set."""

import os
import signal
import sys
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import zoo_pb2


def echo(request, context):
    return zoo_pb2.Text(text=str(os.getpid()))


def serve():
    reuse = int(bool(os.environ.get("REUSE")))
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2), options=[("grpc.so_reuseport", reuse)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("zoo.Zoo", {
        "Echo": grpc.unary_unary_rpc_method_handler(
            echo, request_deserializer=zoo_pb2.Text.FromString, response_serializer=zoo_pb2.Text.SerializeToString),
    }),))
    servicer = health.HealthServicer()
    servicer.set("plugin", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    address = "127.0.0.1:" + os.environ["PORT"]
    server.add_insecure_port(address)
    server.start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print("1|1|tcp|%s|grpc" % address, flush=True)
    server.wait_for_termination()


serve()
