package interp

import (
	"reflect"
	"testing"
)

func TestPythonName(t *testing.T) {
	type parts struct {
		implementation, version string
		ok                      bool
	}
	for name, want := range map[string]parts{
		"python": {"python", "", true}, "python3": {"python", "", true}, "python3.12": {"python", "3.12", true},
		"python3.13t": {"python", "3.13", true}, "python3.13td": {"python", "3.13", true}, "python3.exe": {"python", "", true},
		"pypy3.9.exe": {"pypy", "3.9", true}, "pypy": {"pypy", "", true},
		"python3-config": {}, "python3.": {}, "python3.12-dbg": {}, "python31": {}, "pythonw": {}, "python.12": {}, "ipython": {}, "": {},
	} {
		implementation, version, ok := pythonName(name)
		if got := (parts{implementation, version, ok}); ok != want.ok || ok && got != want {
			t.Errorf("%q: got %+v, want %+v", name, got, want)
		}
	}
}

func TestMinimumBound(t *testing.T) {
	if got, err := readRequirement(minimum); err != nil || !reflect.DeepEqual(got, minimumBound) {
		t.Errorf("got %+v, %v, want %+v", got, err, minimumBound)
	}
}
