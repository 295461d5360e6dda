package wire

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for _, words := range [][]string{nil, {""}, {"World"}, {"a", "", "b c", "\xff", "ü"}, {strings.Repeat("x", 3<<20)}} {
		frame, ok := AppendAsk([]byte("before"), 7, "greet", words)
		if !ok {
			t.Fatalf("%.40q is refused", words)
		}
		f, err := NewSideReader(bytes.NewReader(frame[len("before"):]), 0, ToDaemon).Next()
		if err != nil || f.Type != Ask || f.Call != 7 {
			t.Fatalf("%+v, %v", f, err)
		}
		hook, got, ok := ParseAsk(f.Body)
		if !ok || hook != "greet" || !reflect.DeepEqual(got, words) {
			t.Errorf("%.40q came back as %q %.40q, %v", words, hook, got, ok)
		}
	}
	if hook, words, ok := ParseAsk([]byte("\x00\x00")); !ok || hook != "" || len(words) != 1 {
		t.Errorf("no hook and one empty word came back as %q %q, %v", hook, words, ok)
	}
	const big = 4 << 20
	for _, words := range [][]string{{"a\x00b"}, slices.Repeat([]string{strings.Repeat("x", big)}, MaxBody/big)} {
		if frame, ok := AppendAsk([]byte("before"), 7, "greet", words); ok || string(frame) != "before" {
			t.Errorf("%.40q is taken, %d bytes", words[0], len(frame))
		}
	}
	for _, body := range []string{"", "greet", "greet\x00World"} {
		if hook, words, ok := ParseAsk([]byte(body)); ok {
			t.Errorf("%q is read as %q %q", body, hook, words)
		}
	}
}

func FuzzParseAsk(f *testing.F) {
	f.Add([]byte("greet\x00World\x00"))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		hook, words, ok := ParseAsk(body)
		if !ok {
			return
		}
		again, ok := AppendAsk(nil, 1, hook, words)
		if !ok || !bytes.Equal(again[HeaderSize:], body) {
			t.Errorf("%q became %q", body, again)
		}
	})
}

// TestSides holds that no end takes what only another one sends.
func TestSides(t *testing.T) {
	for side, others := range map[Side]string{
		ToWorker: "HYRBIZEOVAMNJX", FromWorker: "LCKWDPQVAMNJX", ToDaemon: "LDPQHYRBENJXO", FromDaemon: "LCKDPQHYVAMO",
	} {
		for _, letter := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ\x00a" {
			_, err := NewSideReader(bytes.NewReader(Append(nil, Type(letter), 1)), 0, side).Next()
			var header *HeaderError
			known := strings.ContainsRune(string(side), letter)
			if known != (err == nil) || !known && !errors.As(err, &header) || known && strings.ContainsRune(others, letter) {
				t.Errorf("%s: %q: %v", side, letter, err)
			}
		}
	}
	for _, letter := range "VAMNJX" {
		if _, err := NewReader(bytes.NewReader(Append(nil, Type(letter), 1)), 0).Next(); err == nil {
			t.Errorf("the worker's pipe takes %q", letter)
		}
	}
}

func TestTake(t *testing.T) {
	l := &Left{Name: "p"}
	Leave(l)
	if got := Take(); got != l {
		t.Errorf("%+v", got)
	}
	if got := Take(); got != nil {
		t.Errorf("%+v, a second time", got)
	}
}

func TestBuild(t *testing.T) {
	if got := Build(); !strings.HasPrefix(got, "devel ") || got != Build() {
		t.Errorf("%q", got)
	}
	Release = "v1"
	defer func() { Release = "" }()
	if got := Build(); got != "v1" {
		t.Errorf("%q", got)
	}
}
