package bounded_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pyplug/pyplug/interp/bounded"
)

func TestText(t *testing.T) {
	for content, want := range map[string]string{
		"3.12\n":                                "3.12\n",
		"\xef\xbb\xbf3.12\r\n":                  "3.12\r\n",
		"\xff\xfe3\x00\xe9\x00\n\x00":           "3é\n",
		"\xfe\xff\x003\x00\xe9\xd8\x3d\xde\x00": "3é😀",
		"\xff\xfe3\x00.":                        "3\ufffd",
		"\xff\xfe":                              "",
		"\xef\xbb\xbf":                          "",
		"":                                      "",
		"\xe9 \xff\xfe":                         "\xe9 \xff\xfe",
		"3\x00.\x00":                            "3\x00.\x00", // no mark says that it is UTF-16
	} {
		if got := bounded.Text([]byte(content)); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := bounded.Head(path, 100); err != nil || got != want {
			t.Errorf("Head of %q: got %q, %v, want %q", content, got, err, want)
		}
	}
}
