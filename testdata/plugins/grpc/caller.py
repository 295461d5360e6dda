"""A gRPC plugin that calls its host, at the number in a request, through go-plugin's broker."""

import threading
from concurrent import futures

import grpc

import caller_pb2

CHANGED = threading.Condition()
CONNECTIONS = {}


def start_stream(connections, context):
    for connection in connections:
        with CHANGED:
            CONNECTIONS[connection.number] = connection
            CHANGED.notify_all()
    yield from ()


def ask(request, context):
    with CHANGED:
        if not CHANGED.wait_for(lambda: request.host in CONNECTIONS, timeout=5):
            raise TimeoutError("the host has not announced %d" % request.host)
        found = CONNECTIONS[request.host]
    address = "unix:" + found.address if found.network == "unix" else found.address
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(
            "/caller.Host/Answer", caller_pb2.Request.SerializeToString, caller_pb2.Answer.FromString)
        try:
            return call(request)
        except grpc.RpcError as e:
            context.abort(e.code(), e.details())


def method(kind, do, takes):
    return kind(do, request_deserializer=takes.FromString, response_serializer=lambda m: m.SerializeToString())


def serve():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler("caller.Caller", {
            "Ask": method(grpc.unary_unary_rpc_method_handler, ask, caller_pb2.Request),
        }),
        grpc.method_handlers_generic_handler("plugin.GRPCBroker", {
            "StartStream": method(grpc.stream_stream_rpc_method_handler, start_stream, caller_pb2.Connection),
        }),
    ))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print("1|1|tcp|127.0.0.1:%d|grpc" % port, flush=True)
    server.wait_for_termination()


serve()
