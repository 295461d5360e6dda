package check

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

// TestPathsInJSON checks that a report keeps the bytes of a path that is not UTF-8.
func TestPathsInJSON(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems allow less")
	}
	plugin := filepath.Join(t.TempDir(), "\xff", "plugin.py")
	if err := errors.Join(os.Mkdir(filepath.Dir(plugin), 0o700), os.WriteFile(plugin, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), t.Context(), Options{
		Config: plan.Config{Plugin: plugin, Settings: settings.Settings{Python: runnertest.Python(t)}, Environ: os.Environ()}, Skip: Skippable(),
	})
	if err != nil {
		t.Fatal(err)
	}
	details, err := json.Marshal(report.Stages[0].Details)
	if text := string(details); err != nil || !strings.Contains(text, `/\udcff/plugin.py"`) || strings.Contains(text, "manifest") {
		t.Errorf("got %s, %v", text, err)
	}
}
