"""A gRPC plugin with one fault, which the variable QUIRK names."""

import ctypes
import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import zoo_pb2

QUIRK = os.environ.get("QUIRK", "")
LEAVE = threading.Event()


def echo(request, context):
    return request


def leave(request, context):
    os._exit(request.n)


def shutdown(request, context):
    if QUIRK == "shutdown hangs":
        time.sleep(3600)
    elif QUIRK == "shutdown segfaults":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif QUIRK == "shutdown exits":
        os._exit(3)
    elif QUIRK == "shutdown takes 2 s":
        time.sleep(2.1)
    LEAVE.set()
    return None if QUIRK == "shutdown returns None" else b""


def broken(request, context):
    raise ValueError("no licence")


def stdio(request, context):
    """Occupies its thread while the host is connected."""
    while context.is_active():
        time.sleep(0.05)
    yield b""


def before():
    """Runs before the server listens."""
    if QUIRK == "segfault":
        ctypes.string_at(0)
    elif QUIRK == "exit":
        sys.exit(3)
    elif QUIRK == "returns":
        sys.exit(0)
    elif QUIRK == "import":
        importlib.import_module("zoo_nope")  # the source stage does not find this import
    elif QUIRK == "raises":
        raise ValueError("no licence")
    elif QUIRK == "text":
        print("loading")
    elif QUIRK == "blank":
        print()
    elif QUIRK == "long line":
        print("x" * 70000)
    elif QUIRK == "late":
        time.sleep(3.1)
    elif QUIRK == "child":
        subprocess.Popen(["sleep", "3600"])
    elif QUIRK == "quiet child":
        subprocess.Popen(["sleep", "3600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def handlers():
    def unary(do, takes):
        return grpc.unary_unary_rpc_method_handler(
            do, request_deserializer=takes.FromString, response_serializer=lambda m: m.SerializeToString())

    services = {
        "zoo.Zoo": {"Echo": unary(echo, zoo_pb2.Text), "Leave": unary(leave, zoo_pb2.Number)},
        "plugin.GRPCController": {"Shutdown": grpc.unary_unary_rpc_method_handler(shutdown)},
    }
    if QUIRK in ("no controller", "stubborn"):
        del services["plugin.GRPCController"]
    if QUIRK == "one thread":
        services["plugin.GRPCStdio"] = {"StreamStdio": grpc.unary_stream_rpc_method_handler(stdio)}
    return tuple(grpc.method_handlers_generic_handler(name, methods) for name, methods in services.items())


def line(port):
    return {
        "two fields": "1|invalid",
        "four fields": "1|1|tcp|127.0.0.1:%d" % port,
        "core 2": "2|1|tcp|127.0.0.1:%d|grpc" % port,
        "version 9": "1|9|tcp|127.0.0.1:%d|grpc" % port,
        "netrpc": "1|1|tcp|127.0.0.1:%d|netrpc" % port,
        "a name": "1|1|tcp|localhost:%d|grpc" % port,
        "nothing listens": "1|1|tcp|127.0.0.1:1|grpc",
    }.get(QUIRK, "1|1|tcp|127.0.0.1:%d|grpc" % port)


def status():
    """Return SERVING, or NOT_SERVING if the file in ONCE exists from an earlier start."""
    if QUIRK == "healthy once":
        try:
            open(os.environ["ONCE"], "x").close()
        except FileExistsError:
            return health_pb2.HealthCheckResponse.NOT_SERVING
    return health_pb2.HealthCheckResponse.SERVING


def early(server):
    """Prints the handshake before the server listens."""
    with socket.socket() as s:  # keeps other processes off the port
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        print(line(port), flush=True)
        time.sleep(0.5)
        server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()


def main():
    if os.environ.get("ZOO_COOKIE") != "monkey" and QUIRK != "any cookie":
        sys.exit("this is a plugin, which its host starts")
    if QUIRK == "stubborn":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    before()
    pool = futures.ThreadPoolExecutor(max_workers=1 if QUIRK in ("one thread", "one worker") else 4)
    server = grpc.server(pool, options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers(handlers())
    if QUIRK == "health raises":
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", {
            "Check": grpc.unary_unary_rpc_method_handler(broken),
        }),))
    elif QUIRK != "no health":
        servicer = health.HealthServicer()
        servicer.set("other" if QUIRK == "other health" else "plugin", status())
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    if QUIRK == "early":
        early(server)
    else:
        host = "[::]" if QUIRK == "all interfaces" else "127.0.0.1"
        port = server.add_insecure_port("%s:%s" % (host, os.environ.get("PORT", "0")))
        server.start()
        print(line(port), flush=QUIRK != "unflushed")
    if QUIRK == "long line after":
        print("y" * 300000, flush=True)
    if QUIRK.startswith("dies after "):
        timer = threading.Timer(float(QUIRK.split()[-1]), os._exit, [1])
        timer.daemon = True
        timer.start()
    LEAVE.wait()
    server.stop(grace=1)


if __name__ == "__main__":
    main()
