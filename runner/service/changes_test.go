package service

import "testing"

func TestChangeOf(t *testing.T) {
	for want, files := range map[string][]string{
		"a.py changed":            {"/p/a.py"},
		"a.py and others changed": {"/p/a.py", "/p/b.py", "/p/c.py", "/p/d.py"},
	} {
		if got := changeOf(files); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
