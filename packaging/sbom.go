package main

import (
	"encoding/json"
)

// component is a part of an SBOM in the format CycloneDX.
type component struct {
	Type     string       `json:"type"`
	Name     string       `json:"name"`
	Version  string       `json:"version"`
	PURL     string       `json:"purl"`
	Licenses []expression `json:"licenses"`
}

type expression struct {
	Expression string `json:"expression"`
}

// sbom returns the bill of materials: the modules of all binaries, and Go. It has no serial
// number and no time, so that it is the same each time.
func (r *release) sbom() []byte {
	type metadata struct {
		Component component `json:"component"`
	}
	golang := func(kind, path, version, license string) component {
		return component{kind, path, version, "pkg:golang/" + path + "@" + version, []expression{{license}}}
	}
	components := []component{golang("library", "std", r.goVersion, "BSD-3-Clause")}
	for _, m := range r.modules {
		components = append(components, golang("library", m.path, m.version, m.spdx))
	}
	return append(must(json.MarshalIndent(struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}{"CycloneDX", "1.6", 1, metadata{golang("application", "github.com/pyplug/pyplug", "v"+r.version.semver, "Apache-2.0")},
		components}, "", "  ")), '\n')
}
