package main

import "encoding/json"

// sbom returns the bill of materials in the format CycloneDX: the modules of all binaries, and Go.
// It has no serial number and no time, so that every build returns the same.
func (r *release) sbom() []byte {
	component := func(kind, path, version, license string) map[string]any {
		return map[string]any{
			"type": kind, "name": path, "version": version, "purl": "pkg:golang/" + path + "@" + version,
			"licenses": []any{map[string]string{"expression": license}},
		}
	}
	components := []any{component("library", "std", r.goVersion, "BSD-3-Clause")}
	for _, m := range r.modules {
		components = append(components, component("library", m.path, m.version, m.spdx))
	}
	return append(must(json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components,
		"metadata": map[string]any{"component": component("application", "github.com/pyplug/pyplug", "v"+r.version.semver, "Apache-2.0")},
	}, "", "  ")), '\n')
}
