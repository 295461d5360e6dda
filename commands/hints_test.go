package commands

import "testing"

func TestDistribution(t *testing.T) {
	for module, want := range map[string]string{
		"requests":             "requests",
		"yaml.nodes":           "yaml",
		"grpc":                 "grpcio",
		"grpc.aio":             "grpcio",
		"grpc_health":          "grpcio-health-checking",
		"grpc_reflection":      "grpcio-reflection",
		"grpc_tools":           "grpcio-tools",
		"google":               "protobuf",
		"google.protobuf":      "protobuf",
		"google.cloud":         "",
		"google.cloud.storage": "",
	} {
		if got := distribution(module); got != want {
			t.Errorf("%s: got %q, want %q", module, got, want)
		}
	}
}
