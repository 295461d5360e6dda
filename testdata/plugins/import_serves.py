"""A gRPC plugin that looks like a functions file: no line of it is the handshake that it prints."""

import os
import sys


def greet(name):
    return "Hello, " + name


print("|".join(["1", "1", "tcp", "127.0.0.1:4410", "grpc"]), flush=True)
if os.environ.get("LEAVE"):
    sys.exit(3)
