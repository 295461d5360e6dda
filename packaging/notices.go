package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a Go module in the binary.
type module struct {
	path, version string
	spdx          string   // the name of its license
	texts         []string // its license and notices
}

// identify returns the SPDX name of a license if pyplug may contain code with that license.
func identify(text string) (spdx string, ok bool) {
	text = strings.Join(strings.Fields(text), " ")
	for _, known := range []struct{ spdx, phrase string }{
		{"Apache-2.0", "Apache License Version 2.0"},
		{"MPL-2.0", "Mozilla Public License, version 2.0"},
		{"MPL-2.0", "Mozilla Public License Version 2.0"},
		{"MIT", "Permission is hereby granted, free of charge"},
		{"BSD-3-Clause", "Neither the name of"},
		{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
	} {
		if strings.Contains(text, known.phrase) {
			return known.spdx, true
		}
	}
	return "", false
}

// download returns the modules with the names PATH@VERSION, from the module cache if possible.
func download(names []string) (all []module) {
	output, err := exec.Command("go", append([]string{"mod", "download", "-json"}, names...)...).Output()
	if err != nil {
		log.Fatalf("go mod download: %v\n%s", err, output)
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var found struct{ Path, Version, Dir string }
		check(decoder.Decode(&found))
		m := module{path: found.Path, version: found.Version}
		m.read(found.Dir)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return all
}

// legal matches the names of files with a license or notices.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)`)

// read reads the license of a module in dir.
func (m *module) read(dir string) {
	for _, entry := range must(os.ReadDir(dir)) { // LICENSE comes before NOTICE
		if legal.MatchString(entry.Name()) {
			text := must(os.ReadFile(filepath.Join(dir, entry.Name())))
			m.texts = append(m.texts, strings.TrimSpace(string(text)))
		}
	}
	if len(m.texts) == 0 {
		log.Fatalf("%s: no license in %s", m.path, dir)
	}
	var known bool
	if m.spdx, known = identify(m.texts[0]); !known {
		log.Fatalf("%s: unknown license in %s", m.path, dir)
	}
}

// writeNotices returns the licenses of all modules. It contains each text once.
func writeNotices(modules []module) []byte {
	owners := map[string][]string{}
	var texts []string
	for _, m := range modules {
		for _, text := range m.texts {
			if owners[text] == nil {
				texts = append(texts, text)
			}
			owners[text] = append(owners[text], fmt.Sprintf("%s %s (%s)", m.path, m.version, m.spdx))
		}
	}
	var b strings.Builder
	b.WriteString("pyplug contains these Go modules, and Go's runtime and standard library, with the license\n" +
		"of golang.org/x/sys. The source of each is at https://PATH, where PATH is its name,\n" +
		"and at https://proxy.golang.org.\n")
	rule := strings.Repeat("-", 80)
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(owners[text], "\n"), rule, text)
	}
	return []byte(b.String())
}

// licenses returns the SPDX expression for pyplug and all its modules.
func (r *release) licenses() string {
	names := []string{"Apache-2.0"} // pyplug's own
	for _, m := range r.modules {
		names = append(names, m.spdx)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " AND ")
}
