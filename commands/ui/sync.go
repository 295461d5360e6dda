package ui

import "github.com/pyplug/pyplug/runner/schema"

// Synced is the environment that sync made, or would make.
type Synced struct {
	Dir          schema.Path `json:"dir"`
	Python       schema.Path `json:"python"`
	Kind         string      `json:"kind"`   // of the source: the file's name, or PEP 723
	Source       schema.Path `json:"source"` // the file that says what is needed
	Requirements []string    `json:"requirements,omitempty"`
	Installer    string      `json:"installer"`
	Made         bool        `json:"made"` // false: it was there
	DryRun       bool        `json:"dry_run,omitempty"`
}

// Synced prints the directory of an environment, or all about it as JSON.
func (s *Streams) Synced(e Synced, asJSON bool) error {
	if asJSON {
		return s.writeJSON(struct {
			Environment Synced `json:"environment"`
		}{e})
	}
	return s.printPath(e.Dir)
}
