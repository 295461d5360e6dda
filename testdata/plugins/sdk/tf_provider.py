"""A Terraform provider without resources, on the SDK tf."""

from tf import runner
from tf.iface import Provider
from tf.schema import Schema


class Small(Provider):
    def get_model_prefix(self):
        return "small_"

    def full_name(self):
        return "example.com/example/small"

    def get_provider_schema(self, diags):
        return Schema(version=1, attributes=[])

    def validate_config(self, diags, config):
        pass

    def configure_provider(self, diags, config):
        pass

    def get_data_sources(self):
        return []

    def get_resources(self):
        return []


if __name__ == "__main__":
    runner.run_provider(Small())
