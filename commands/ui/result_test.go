package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestResult(t *testing.T) {
	const start, end = `{"schema":1,"hook":"greet",`, `"took_ms":1.25,"pid":42,"generation":3}` + "\n"
	tests := []struct {
		name                 string
		value                string
		binary, streamed     bool
		plain, raw, envelope string
	}{
		{"text", `"é \"q\" \n \u00e9\ud83d\ude00\/"`, false, false, `"é \"q\" \n \u00e9\ud83d\ude00\/"` + "\n", "é \"q\" \n é😀/\n", start + `"result":"é \"q\" \n \u00e9\ud83d\ude00\/",` + end},
		{"surrogates", `"\udc80\udcff\ud800x\udc00\ud800\ud83d\ude00"`, false, false, `"\udc80\udcff\ud800x\udc00\ud800\ud83d\ude00"` + "\n",
			"\x80\xff\uFFFDx\uFFFD\uFFFD😀\n", start + `"result":"\udc80\udcff\ud800x\udc00\ud800\ud83d\ude00",` + end},
		{"quotes at the ends", `"\"\""`, false, false, `"\"\""` + "\n", "\"\"\n", start + `"result":"\"\"",` + end},
		{"empty", `""`, false, false, "\"\"\n", "\n", start + `"result":"",` + end},
		{"number", `12345678901234567890.10`, false, false, "12345678901234567890.10\n", "12345678901234567890.10\n", start + `"result":12345678901234567890.10,` + end},
		{"null", "null", false, false, "null\n", "", start + `"result":null,` + end},
		{"bytes", "\x00\xff", true, false, "\"AP8=\"\n", "\x00\xff", start + `"result":"AP8=","binary":true,` + end},
		{"no bytes", "", true, false, "\"\"\n", "", start + `"result":"","binary":true,` + end},
		{"streamed", "", false, true, "", "", start + `"done":true,` + end},
	}
	for _, test := range tests {
		r := hook.Result{Item: hook.Item{Value: json.RawMessage(test.value), Binary: test.binary}, Streamed: test.streamed, Took: 1250 * time.Microsecond}
		for f, want := range []string{test.plain, test.raw, test.envelope} {
			s, out, _ := testStreams("")
			err := s.Result(Format(f), "greet", r, hook.Info{PID: 42}, 3)
			if err != nil || out.String() != want {
				t.Errorf("%s, format %d: got %q, %v, want %q", test.name, f, out, err, want)
			}
			if Format(f) == Envelope && !json.Valid(out.Bytes()) {
				t.Errorf("%s: the envelope is not JSON", test.name)
			}
		}
	}
}

func TestResultOnTerminal(t *testing.T) {
	s, out, _ := testStreams("")
	s.OutTTY = true
	value := json.RawMessage("\"a\u007fb\u0080c\u009fd\u00a0é\xff😀\"")
	want := `"a\u007fb\u0080c\u009fd` + "\u00a0é" + `\ufffd😀"`
	if err := s.Result(Plain, "h", hook.Result{Item: hook.Item{Value: value}}, hook.Info{}, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Result(Envelope, "h", hook.Result{Item: hook.Item{Value: value}}, hook.Info{}, 0); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), want+"\n"+`{"schema":1,"hook":"h","result":`+want+`,"took_ms":0}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestItem(t *testing.T) {
	for f, want := range []string{"\"a\"\n{\"b\":1}\nnull\n", "a\n{\"b\":1}\n",
		`{"schema":1,"hook":"h","item":"a"}` + "\n" + `{"schema":1,"hook":"h","item":{"b":1}}` + "\n" + `{"schema":1,"hook":"h","item":null}` + "\n"} {
		s, out, _ := testStreams("")
		for _, item := range []string{`"a"`, "{\"b\":1}", "null"} {
			if err := s.Item(Format(f), "h", hook.Item{Value: json.RawMessage(item)}); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("format %d: got %q, want %q", f, out, want)
		}
	}
}

// TestSole checks that Raw prints the only text of a message, as a result and as an item.
func TestSole(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		value, sole, want string
	}{
		{`{"n":1,"text":"hello \u001b\n"}`, "text", "hello \x1b\n\n"},
		{`{"text":""}`, "text", "\n"},
		{`{}`, "text", "\n"},
		{`{"data":"AP8="}`, "data;base64", "\x00\xff"},
		{`{}`, "data;base64", ""},
		{`{"text":"` + large + `"}`, "text", large + "\n"},
		{`"x"`, "value", "x\n"},
		{`"AP8="`, "value;base64", "\x00\xff"},
	} {
		item := hook.Item{Value: json.RawMessage(test.value), Sole: test.sole}
		s, out, _ := testStreams("")
		s.OutTTY = true
		errs := []error{
			s.Result(Raw, "h", hook.Result{Item: item}, hook.Info{}, 0), s.Item(Raw, "h", item),
			s.Result(Plain, "h", hook.Result{Item: item}, hook.Info{}, 0), s.Item(Plain, "h", item),
		}
		want := test.want + test.want + test.value + "\n" + test.value + "\n"
		if err := errors.Join(errs...); err != nil || out.String() != want {
			t.Errorf("%.20s, %s: got %.60q, %v, want %.60q", test.value, test.sole, out, err, want)
		}
	}
	s, _, _ := testStreams("")
	s.Out = failing{syscall.EPIPE}
	if err := s.Item(Raw, "h", hook.Item{Value: json.RawMessage(`{"text":"x"}`), Sole: "text"}); !IsClosedPipe(err) {
		t.Errorf("got %v for a reader that has gone", err)
	}
}

type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }

func TestResultErrors(t *testing.T) {
	s, _, _ := testStreams("")
	value := json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)
	for _, cause := range []error{syscall.ENOSPC, syscall.EPIPE, io.ErrClosedPipe} {
		s.Out = failing{fmt.Errorf("write: %w", cause)}
		for _, f := range []Format{Plain, Raw, Envelope} {
			err := s.Result(f, "h", hook.Result{Item: hook.Item{Value: value}}, hook.Info{}, 0)
			if !errors.Is(err, cause) || IsClosedPipe(err) != (cause != syscall.ENOSPC) {
				t.Errorf("format %d: got %v, want %v", f, err, cause)
			}
		}
	}
	s.Out = io.Discard
	err := s.Result(Raw, "h", hook.Result{Item: hook.Item{Value: json.RawMessage(`{"data":"A*"}`), Sole: "data" + hook.SoleBytes}}, hook.Info{}, 0)
	if err == nil || IsClosedPipe(err) {
		t.Errorf("got %v for what is not base64", err)
	}
}

// counting records what it receives without a copy.
type counting struct{ wrote [][]byte }

func (c *counting) Write(b []byte) (int, error) {
	c.wrote = append(c.wrote, b)
	return len(b), nil
}

func TestLargeResultIsNotCopied(t *testing.T) {
	value := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	for _, f := range []Format{Plain, Envelope} {
		s, _, _ := testStreams("")
		c := &counting{}
		s.Out = c
		if err := s.Result(f, "h", hook.Result{Item: hook.Item{Value: value}}, hook.Info{}, 0); err != nil {
			t.Fatal(err)
		}
		if !slicesShare(c.wrote, value) {
			t.Errorf("format %d: the value was copied", f)
		}
	}
}

func slicesShare(wrote [][]byte, value []byte) bool {
	for _, w := range wrote {
		if len(w) > 1000 && &w[len(w)-1] == &value[len(value)-1] {
			return true
		}
	}
	return false
}

// TestLinesOut checks that answers are written unchanged, and harmless on a terminal.
func TestLinesOut(t *testing.T) {
	line := "{\"id\":1,\"result\":\"\u009b2J\x7f\"}\n"
	for terminal, want := range map[bool]string{false: line, true: `{"id":1,"result":"\u009b2J\u007f"}` + "\n"} {
		s, out, _ := testStreams("")
		s.OutTTY = terminal
		if n, err := s.Lines(false).Write([]byte(line)); n != len(line) || err != nil || out.String() != want {
			t.Errorf("%d, %v: got %q, want %q", n, err, out, want)
		}
	}
}

func FuzzRaw(f *testing.F) {
	for _, seed := range []string{`"a"`, `"\u00e9"`, `"\udc80\ud83d\ude00"`, `"\`, `"\u12`, `"`, `"\\"`, "null", "[1]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(text)) != nil {
			return // a result is JSON on one line
		}
		value := compact.String()
		s, out, _ := testStreams("")
		if err := s.Result(Raw, "h", hook.Result{Item: hook.Item{Value: json.RawMessage(value)}}, hook.Info{}, 0); err != nil {
			t.Fatal(err)
		}
		var want string
		if json.Unmarshal(compact.Bytes(), &want) != nil || value[0] != '"' {
			return
		}
		if strings.Contains(want, "\uFFFD") {
			return // encoding/json cannot represent these
		}
		if got := out.String(); got != want+"\n" {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	})
}
