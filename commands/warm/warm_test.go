//go:build linux || darwin

package warm

import (
	"os"
	"testing"
)

func TestOrdinary(t *testing.T) {
	for entry, want := range map[string]bool{
		"PATH=/bin": true, "NO_COLOR=1": true, "TERM=dumb": true, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=/x": true,
		"PYPLUG_RUN_DIR=/run/ci": true, "PYPLUG_PYTHON=3.12": true, "PYPLUG_COLOR=always": false, "PYPLUG_LOG_FORMAT=json": false, "PYPLUG_DEBUG=wire": false, "PYPLUG_START_TIMEOUT=1": false,
		"FORCE_COLOR=1": false, "CLICOLOR_FORCE=1": false, "GRPC_GO_LOG_SEVERITY_LEVEL=info": false, "GODEBUG=http2debug=2": false,
	} {
		if got := Ordinary([]string{"HOME=/", entry}); got != want {
			t.Errorf("%s: %v, want %v", entry, got, want)
		}
	}
}

func TestColourless(t *testing.T) {
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	files := map[*os.File]bool{pipe: true}
	for name, want := range map[string]bool{os.DevNull: true, "doc.go": true, "/dev/zero": false} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		files[f] = want
	}
	for f, want := range files {
		if got := colourless(int(f.Fd())); got != want {
			t.Errorf("%s: %v, want %v", f.Name(), got, want)
		}
		f.Close()
	}
	if colourless(-1) {
		t.Error("no descriptor is colourless")
	}
}
