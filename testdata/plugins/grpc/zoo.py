"""A gRPC plugin whose arguments, or the variable ZOO, select its behaviour."""

import argparse
import ctypes
import os
import sys
import threading
import time
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import zoo_pb2

options = argparse.ArgumentParser()
options.add_argument("--workers", type=int, default=10)
options.add_argument("--unix", action="store_true")
options.add_argument("--reflection", action="store_true")
options.add_argument("--controller", action="store_true")
options.add_argument("--health", default="SERVING")
options.add_argument("--service", default="plugin")
options.add_argument("--marker", help="a file that is written at the end, by finally")
options.add_argument("--noise", action="store_true")
options.add_argument("--compression", default="NoCompression", help="a name of grpc.Compression")
options.add_argument("--child", action="store_true")
options.add_argument("--tenant", help="reject whatever comes without this metadata")
options = options.parse_args(os.environ.get("ZOO", "").split() + sys.argv[1:])

LEAVE = threading.Event()


def echo(request, context):
    return request


def fail(request, context):
    raise ValueError("on purpose")


def abort(request, context):
    from google.protobuf import any_pb2
    # An encoded google.rpc.Status: code 3, a message, one detail.
    detail = any_pb2.Any()
    detail.Pack(zoo_pb2.Text(text="more of it"))
    packed = detail.SerializeToString()
    message = b"not this"
    status = b"\x08\x03\x12" + bytes([len(message)]) + message + b"\x1a" + bytes([len(packed)]) + packed
    context.set_trailing_metadata((("grpc-status-details-bin", status),))
    context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not this")


def mark():
    if os.environ.get("MARKER"):
        open(os.environ["MARKER"], "w").close()


def hang(request, context):
    print("hanging")
    mark()
    while context.is_active():
        time.sleep(0.01)
    return request


def stubborn(request, context):
    mark()
    ctypes.PyDLL(None).sleep(3600)  # holds the interpreter lock
    return request


def leave(request, context):
    os._exit(request.n)


def count(request, context):
    mark()
    for n in range(request.n):
        yield zoo_pb2.Number(n=n)


def total(requests, context):
    return zoo_pb2.Number(n=sum(r.n for r in requests))


def chat(requests, context):
    yield from requests


def metadata(request, context):
    found = [v for k, v in context.invocation_metadata() if k == request.text]
    return zoo_pb2.Text(text=",".join(found))


def say(request, context):
    print(request.text)
    print(request.text, file=sys.stderr)
    return request


def implemented(request, context):
    return zoo_pb2.Names(names=[name for name in METHODS if name != "Absent"])


UNARY, OUT, IN, BOTH = (
    grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler,
    grpc.stream_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler,
)
TEXT, NUMBER = zoo_pb2.Text, zoo_pb2.Number
METHODS = {
    "Echo": (UNARY, echo, TEXT), "Fail": (UNARY, fail, TEXT), "Abort": (UNARY, abort, TEXT),
    "Hang": (UNARY, hang, TEXT), "Stubborn": (UNARY, stubborn, TEXT), "Leave": (UNARY, leave, NUMBER),
    "Count": (OUT, count, NUMBER), "Sum": (IN, total, NUMBER), "Chat": (BOTH, chat, TEXT),
    "Metadata": (UNARY, metadata, TEXT), "Print": (UNARY, say, TEXT), "Implemented": (UNARY, implemented, TEXT),
}


def shutdown(request, context):
    LEAVE.set()
    return b""


class Guard(grpc.ServerInterceptor):
    def intercept_service(self, continuation, details):
        handler = continuation(details)
        if handler is None or ("tenant", options.tenant) in details.invocation_metadata:
            return handler
        return grpc.unary_unary_rpc_method_handler(
            lambda request, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, "no tenant"))


def serve():
    pool = futures.ThreadPoolExecutor(max_workers=options.workers)
    server = grpc.server(pool, options=[("grpc.so_reuseport", 0)], compression=grpc.Compression[options.compression],
                         interceptors=[Guard()] if options.tenant else [])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("zoo.Zoo", {
        name: kind(do, request_deserializer=takes.FromString, response_serializer=lambda m: m.SerializeToString())
        for name, (kind, do, takes) in METHODS.items()
    }),))
    if options.controller:
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("plugin.GRPCController", {
            "Shutdown": grpc.unary_unary_rpc_method_handler(shutdown),
        }),))
    if options.reflection:
        from grpc_reflection.v1alpha import reflection
        reflection.enable_server_reflection(("zoo.Zoo", reflection.SERVICE_NAME), server)
    if options.health == "hang":
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", {
            "Check": grpc.unary_unary_rpc_method_handler(hang),
        }),))
    elif options.health != "none":
        servicer = health.HealthServicer()
        servicer.set(options.service, health_pb2.HealthCheckResponse.ServingStatus.Value(options.health))
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    if options.unix:
        address = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "zoo")
        server.add_insecure_port("unix:" + address)
        line = "1|1|unix|%s|grpc" % address
    else:
        line = "1|1|tcp|127.0.0.1:%d|grpc" % server.add_insecure_port("127.0.0.1:0")
    server.start()
    if options.noise:
        print("loading\n\n" + "x" * 70000)
    if options.child:
        import subprocess
        subprocess.Popen(["sleep", "3600"])
    print(line, flush=True)
    LEAVE.wait()
    server.stop(0)


if __name__ == "__main__":
    if os.environ.get("ZOO_COOKIE") != "monkey":
        sys.exit("this is a plugin and not meant to be started by hand")
    try:
        serve()
    finally:
        if options.marker:
            with open(options.marker, "w") as f:
                f.write("bye")
