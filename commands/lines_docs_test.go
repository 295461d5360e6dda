//go:build unix

package commands_test

import "testing"

// TestLinesPage runs the examples of docs/lines.md.
func TestLinesPage(t *testing.T) { runExamples(t, "docs/lines.md", 6) }
