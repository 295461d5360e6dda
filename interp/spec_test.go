package interp

import "testing"

func TestRequirement(t *testing.T) {
	for _, c := range []struct {
		spec, version string
		want          verdict
	}{
		{"", "3.12.4", yes},
		{">=3.11", "3.11.0", yes},
		{">=3.11", "3.11", yes},
		{">=3.11", "3.10", no},
		{">=3.11", "", unknown},
		{">=3.11, <3.13", "3.12", yes},
		{">=3.11,<3.13,", "3.13.0", no},
		{">=3.11.5", "3.11", unknown},
		{">=3.11.5", "3.12", yes},
		{">3.11", "3.11", unknown},
		{">3.11", "3.11.1", yes},
		{"==3.12.*", "3.12", yes},
		{"==3.12.*", "3.13", no},
		{"==3.12.4", "3.12", unknown},
		{"==3.12.4", "3.12.4", yes},
		{"==3.12.4", "3.13", no},
		{"===3.12.4", "3.12.4", yes},
		{"!=3.12.4", "3.12", unknown},
		{"!=3.12.4", "3.12.3", yes},
		{"!=3.12.*", "3.12.3", no},
		{"!=3.12.*", "3.13", yes},
		{"~=3.11", "3.13.1", yes},
		{"~=3.11", "4.0.0", no},
		{"~=3.11.2", "3.12.0", no},
		{"~=3.11.2", "3.11.4", yes},
		{"~=3.11.2", "3.11", unknown},
		{"<=3.12", "3.12.0", yes},
		{"<=3.12", "3.12.1", no},
		{"<4", "3.99", yes},
		{">=3", "3.8", yes},
		{">=3.14", "3.14.0rc2", yes},
		{">=3.14.0rc1", "3.14.0", yes},
		{"<3.14.0a0", "3.14.0", no},
		{"<3.14.0a0", "3.13.9", yes},
		{">3.13.0rc1", "3.13.0", yes},
		{"==3.14.0rc1", "3.14.0rc2", no},
		{">= v3.9", "3.9.1", yes},
	} {
		b, err := readRequirement(Requirement{Spec: c.spec, From: "test"})
		if err != nil {
			t.Errorf("%q: %v", c.spec, err)
			continue
		}
		if got := b.allows(parseVersion(c.version)); got != c.want {
			t.Errorf("%q allows %q: got %d, want %d", c.spec, c.version, got, c.want)
		}
	}
}

func TestRequirementUnreadable(t *testing.T) {
	for _, spec := range []string{"3.11", ">=", ">=3.x", "~=3", ">=3.11.*", ">=3.11 <3.13", "latest", "=>3.11", ">=3.11;"} {
		if _, err := readRequirement(Requirement{Spec: spec}); err == nil {
			t.Errorf("%q was read", spec)
		}
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]string{
		"3.12.4": "3.12.4", "3.12": "3.12", "3.14.0rc2": "3.14.0rc2", "3.12.1+": "3.12.1", "3.14.4.final.0": "3.14.4",
		"3.14.0.candidate.2": "3.14.0rc2", "3.14-dev": "3.14", "3.13.0t": "3.13.0", "wut": "unknown", "": "unknown", " 3.9.1\r": "3.9.1",
		"3.13a1": "3.13.0a1", "3.13.0alpha.2": "3.13.0a2", "3.13.0beta": "3.13.0", "3.13.0abc1": "3.13.0", "3.12.": "3.12",
		"3": "unknown", "3.": "unknown", ".12": "unknown", "3-12": "unknown",
	} {
		if got := parseVersion(text).String(); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		"version = 3.12.1\n":              "3.12.1",
		"VERSION=3.12.1\r\n":              "3.12.1",
		"version = wut\n":                 "unknown",
		"":                                "unknown",
		"version_info = 3.12.0.final.0\n": "3.12.0",
		"version = 3.12.1\ncommand = a\nversion = 3.9.0\n": "3.12.1",
		"home\n=\nversion = 3.8 = x\n":                     "3.8",
	} {
		if got := parseConfig(text).version.String(); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func FuzzRequirement(f *testing.F) {
	f.Add(">=3.11,<3.13", "3.12.4")
	f.Add("==3.12.*", "3.14.0rc2")
	f.Fuzz(func(t *testing.T, spec, version string) {
		v := parseVersion(version)
		if b, err := readRequirement(Requirement{Spec: spec}); err == nil {
			b.allows(v)
		}
		parseConfig(version)
	})
}
