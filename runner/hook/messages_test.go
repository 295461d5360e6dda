package hook

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestMessages(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // the expected messages, separated by blanks
		err  string
	}{
		"nothing":       {"", "", ""},
		"lines":         {"{\"n\":1}\n{\"n\":2}\n", `{"n":1} {"n":2}`, ""},
		"blank lines":   {"\n\n{}\n\n[1]\n", `{} [1]`, ""},
		"one by one":    {`{}{} {}`, `{} {} {}`, ""},
		"no objects":    {"1\n\n22 \"a\"null", `1 22 "a" null`, ""},
		"blanks alone":  {" \t\r\n\n", "", ""},
		"no newline":    {`{"a":"é"}`, `{"a":"é"}`, ""},
		"a mark":        {"\ufeff{}\n", `{}`, ""},
		"over lines":    {"{\n\"a\":\n1}\n", "{\n\"a\":\n1}", ""},
		"broken":        {"{}\n{}\n{\"a\" 1}\n{}", `{} {}`, `file: message 3 is not JSON: byte 12: invalid character '1' after object key`},
		"broken first":  {"x\n{}", ``, `file: message 1 is not JSON: byte 1: invalid character 'x' looking for beginning of value`},
		"one broken":    {"{}  {}\r\n\r\n {} x", `{} {} {}`, `file: message 4 is not JSON: byte 15: invalid character 'x' looking for beginning of value`},
		"blank, broken": {"{}\n" + strings.Repeat("\n", 99_999) + "{\n\n]", `{}`, `file: message 2 is not JSON: byte 100006: invalid character ']' looking for beginning of object key string`},
		"newline in it": {"{}\n\"a\n\"", `{}`, `file: message 2 is not JSON: byte 6: invalid character '\n' in string literal`},
		"cut off late":  {"{}\n\n\n{\n\n", `{}`, `file: message 2 is not JSON: unexpected EOF`},
		"cut off":       {"{}\n{\"a\":\n", `{}`, `file: message 2 is not JSON: unexpected EOF`},
	} {
		for how, from := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "by bytes": iotest.OneByteReader(strings.NewReader(c.text)),
		} {
			var got []string
			told := ""
			for m, err := range Messages(t.Context(), from, "file", 1<<20, errors.New("too long")) {
				if err != nil {
					told = err.Error()
					break
				}
				got = append(got, string(m))
			}
			if strings.Join(got, " ") != c.want || told != c.err {
				t.Errorf("%s, %s: got %q, %q; want %q, %q", name, how, got, told, c.want, c.err)
			}
		}
	}
}

func TestMessagesReadError(t *testing.T) {
	broken := errors.New("the disk is gone")
	var got []error
	for _, err := range Messages(t.Context(), io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(broken)), "file", 1<<20, nil) {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], broken) {
		t.Errorf("got %v, want a message and then %v", got, broken)
	}
}

// endless is a reader that repeats a text forever.
type endless string

func (e endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		n += copy(b[n:], e)
	}
	return n, nil
}

func TestMessagesTooLong(t *testing.T) {
	const limit = 1000
	escapes := `"` + strings.Repeat(`\u0001`, limit) + `"`
	for begin, on := range map[string]endless{`"`: "x", "[": " \n"} {
		var got []string
		var last error
		from := io.MultiReader(strings.NewReader(escapes+"\n\n {}\n"+begin), on)
		most, tooLong := MessageLimit(limit)
		for m, err := range Messages(t.Context(), from, "file", most, tooLong) {
			got, last = append(got, string(m)), err
		}
		const want = ": it has more than 71536 bytes; --max-message is 1000"
		if len(got) != 3 || got[0] != escapes || last == nil || !strings.HasSuffix(last.Error(), want) || len(NewError(Request, last).Hints) != 1 {
			t.Errorf("%s: %d messages, %v; want 2 and %s", begin, len(got)-1, last, want)
		}
	}
}

// TestMessagesAtOnce checks that a message is returned as soon as it arrives, without a newline
// after it.
func TestMessagesAtOnce(t *testing.T) {
	out, in := io.Pipe()
	told := make(chan struct{})
	go func() { // ends after the last message
		for range 3 {
			_, _ = io.WriteString(in, "{}") // Messages reads it, or the test fails
			<-told
		}
		in.Close()
	}()
	n := 0
	for _, err := range Messages(t.Context(), out, "file", 1000, nil) {
		if n++; err != nil {
			t.Error(err)
		}
		told <- struct{}{}
	}
	if n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
}

// TestMessagesLeft checks that the kind of the error says how ctx ended.
func TestMessagesLeft(t *testing.T) {
	out, in := io.Pipe() // nothing is written
	defer in.Close()
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stop"))
	late, cancelLate := WithLimit(t.Context(), 20*time.Millisecond)
	defer cancelLate()
	for want, ctx := range map[string]context.Context{"canceled: stop": canceled, "timeout: no end of file within ": late} {
		for _, err := range Messages(ctx, out, "file", 1000, nil) {
			e := (*Error)(nil)
			if !errors.As(err, &e) || !strings.HasPrefix(string(e.Kind)+": "+e.Err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}

func BenchmarkMessages(b *testing.B) {
	from := strings.NewReader(strings.Repeat("{\"n\":123456}\n", b.N))
	b.ReportAllocs()
	b.ResetTimer()
	for _, err := range Messages(b.Context(), from, "file", 1<<20, nil) {
		if err != nil {
			b.Fatal(err)
		}
	}
}
