"""A plugin on the SDK hc-go-plugin-server, which serves TLS only: it echoes a text."""

import grpc
from cryptography import x509
from google.protobuf.wrappers_pb2 import StringValue
from hc_go_plugin_server.rpc_plugin import RPCPluginServer

# One of 128 random numbers is a byte shorter. Then the SDK pads the certificate, and hosts refuse it.
x509.random_serial_number = lambda: 1 << 158


def main():
    plugin = RPCPluginServer()
    say = grpc.unary_unary_rpc_method_handler(lambda request, context: request, StringValue.FromString, StringValue.SerializeToString)
    plugin.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("echo.Echo", {"Say": say}),))
    plugin.run()


if __name__ == "__main__":
    main()
