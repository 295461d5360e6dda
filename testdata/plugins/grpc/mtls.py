"""A gRPC plugin with mutual TLS; its certificate and key are two files."""

import os
import sys
import threading
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import zoo_pb2

cert, key = (open(path, "rb").read() for path in sys.argv[1:3])
host = os.environ["PLUGIN_CLIENT_CERT"].encode()

server = grpc.server(futures.ThreadPoolExecutor(max_workers=2), options=[("grpc.so_reuseport", 0)])
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("zoo.Zoo", {
    "Echo": grpc.unary_unary_rpc_method_handler(
        lambda request, context: request,
        request_deserializer=zoo_pb2.Text.FromString, response_serializer=zoo_pb2.Text.SerializeToString),
}),))
servicer = health.HealthServicer()
servicer.set("plugin", health_pb2.HealthCheckResponse.SERVING)
health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
credentials = grpc.ssl_server_credentials([(key, cert)], root_certificates=host, require_client_auth=True)
port = server.add_secure_port("127.0.0.1:0", credentials)
server.start()

# The sixth field is the base64 text of the PEM, without padding.
field = "".join(cert.decode().split("\n")[1:-2]).rstrip("=")
print("1|1|tcp|127.0.0.1:%d|grpc|%s" % (port, field), flush=True)
threading.Event().wait()
