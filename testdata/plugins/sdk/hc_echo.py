"""A plugin on the SDK hc-go-plugin-server, which serves TLS only: it echoes a text."""

import grpc
from google.protobuf.wrappers_pb2 import StringValue
from hc_go_plugin_server.rpc_plugin import RPCPluginServer


def main():
    plugin = RPCPluginServer()
    say = grpc.unary_unary_rpc_method_handler(lambda request, context: request, StringValue.FromString, StringValue.SerializeToString)
    plugin.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("echo.Echo", {"Say": say}),))
    plugin.run()


if __name__ == "__main__":
    main()
