//go:build unix

package commands_test

import (
	"os/exec"
	"testing"
)

// TestHTTPPage runs the examples of docs/http.md.
func TestHTTPPage(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl: ", err)
	}
	runExamples(t, "docs/http.md", 7)
}
