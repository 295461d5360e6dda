package main

import (
	"fmt"
	"regexp"
	"strings"
)

// version is a version in the three notations of the package formats.
type version struct {
	semver string // 0.1.0-rc.1, for the tag, the binary and file names
	pep440 string // 0.1.0rc1, for wheels
	linux  string // 0.1.0-rc1, for nfpm, which writes it as 0.1.0~rc1 or 0.1.0_rc1
}

// released matches versions that Python, semver, Debian, RPM and Alpine order alike.
var released = regexp.MustCompile(`^v?((?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2})(?:-(alpha|beta|rc)\.(0|[1-9]\d*))?$`)

// untagged matches the version of a commit without a tag. It is older than every release.
var untagged = regexp.MustCompile(`^0\.0\.0-dev\+([0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)$`)

func parseVersion(text string) (version, error) {
	if m := released.FindStringSubmatch(text); m != nil {
		v := version{m[1], m[1], m[1]}
		if m[2] != "" {
			short := map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]]
			v.semver += "-" + m[2] + "." + m[3]
			v.pep440 += short + m[3]
			v.linux += "-" + m[2] + m[3]
		}
		return v, nil
	}
	if m := untagged.FindStringSubmatch(text); m != nil {
		local := strings.ToLower(strings.ReplaceAll(m[1], "-", "."))
		return version{text, "0.0.0.dev0+" + local, "0.0.0-pre"}, nil
	}
	return version{}, fmt.Errorf("VERSION is %q, expected X.Y.Z or X.Y.Z-rc.N (also alpha.N, beta.N)", text)
}
