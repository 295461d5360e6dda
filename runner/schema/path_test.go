package schema

import (
	"encoding/json"
	"testing"
)

// FuzzPath checks that the JSON of a path keeps all its bytes.
func FuzzPath(f *testing.F) {
	for _, path := range []string{"", "/a/b.py", "/x\xff.py", "\xed\xa0\x80\xf0\x9f", `\udcff"\`, "\x00\n\u009b\u202e😀"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		text, err := json.Marshal([]Path{Path(path)})
		if err != nil {
			t.Fatal(err)
		}
		var got []Path
		if err := json.Unmarshal(text, &got); err != nil || len(got) != 1 || string(got[0]) != path {
			t.Errorf("%q: got %q from %s, %v", path, got, text, err)
		}
	})
}

func TestPathJSON(t *testing.T) {
	for text, want := range map[string]Path{`"\ud83d\ude00\ud800"`: "😀\uFFFD", "null": "before", `"\/a"`: "/a"} {
		got := Path("before")
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	if err := json.Unmarshal([]byte("1"), new(Path)); err == nil {
		t.Error("a number is a path")
	}
}
