package manifest

import (
	"maps"
	"slices"
)

// Host is how a program that hosts plugins of go-plugin starts them.
type Host struct {
	// CookieKey and CookieValue are its magic cookie, Versions the app versions that it
	// offers.
	CookieKey, CookieValue string
	Versions               []int
	// MTLS says that it secures the connection.
	MTLS bool
	// Pings says that it asks the health service.
	Pings bool
}

// Hosts are the hosts that are known by name. The values are those of their own source.
// To add one, add a line.
var Hosts = map[string]Host{
	"mattermost": {"MATTERMOST_PLUGIN", "Securely message teams, anywhere.", []int{1}, false, true},
	"nomad":      {"NOMAD_PLUGIN_MAGIC_COOKIE", "e4327c2e01eabfd75a8a67adb114fb34a757d57eee7728d857a8cec6e91a7255", []int{2}, false, false},
	"terraform":  {"TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", []int{5, 6}, true, false},
	"vault":      {"VAULT_BACKEND_PLUGIN", "6669da05-b1c8-4f49-97d9-c8e5bed98e20", []int{3, 4, 5}, true, false},
}

// HostNames lists the names of [Hosts], sorted.
func HostNames() []string { return slices.Sorted(maps.Keys(Hosts)) }

// startFor fills in what the manifest leaves to the host that it names.
func (m *Manifest) startFor() {
	h := Hosts[m.Host]
	if m.CookieKey == "" {
		m.CookieKey, m.CookieValue = h.CookieKey, h.CookieValue
	}
	if len(m.ProtocolVersions) == 0 {
		m.ProtocolVersions = h.Versions
	}
	if m.MTLS == nil && h.MTLS {
		m.MTLS = &h.MTLS
	}
}
