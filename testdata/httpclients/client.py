"""Makes calls with a client that openapi-python-client has made: client.py URL TOKEN.

Each line of standard input is a call. The answer is a line, as from `pyplug run --lines`.
"""

import base64
import importlib
import json
import sys

from zoo_client import AuthenticatedClient, models, types


def plain(value):
    if isinstance(value, types.File):
        return {"result": base64.b64encode(value.payload.read()).decode(), "binary": True}
    if isinstance(value, models.Failure):
        return {"error": value.error.message}
    return {"result": value.to_dict() if hasattr(value, "to_dict") else value}


def call(client, hook, args):
    operation = importlib.import_module("zoo_client.api.hooks." + hook)
    body = getattr(models, hook.capitalize() + "Body").from_dict(args)
    return plain(operation.sync_detailed(client=client, body=body).parsed)


with AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True) as client:
    for line in sys.stdin:
        print(json.dumps(call(client, **json.loads(line))))
