"""A Terraform provider without resources, on the SDK pyvider, which looks at the file's name.

It sends its logs to a service that it does not serve.
"""

import opentelemetry.proto.collector.logs.v1.logs_service_pb2  # noqa: F401
from pyvider.cli.__main__ import main
from pyvider.providers import BaseProvider, ProviderMetadata, register_provider
from pyvider.schema import s_provider


@register_provider("small")
class Small(BaseProvider):
    def __init__(self):
        super().__init__(metadata=ProviderMetadata(name="small", version="1.0.0", protocol_version="6"))

    def _build_schema(self):
        return s_provider({})


if __name__ == "__main__":
    main()
