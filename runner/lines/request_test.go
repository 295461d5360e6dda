package lines

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestRequests checks the answers to lines that name their hook.
func TestRequests(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"id": 7, "hook": "f", "args": {"a": 1}}`, `{"id":7,"result":["f",{"a": 1}]}`},
		{`{"hook":"f","args":[1,2]}`, `{"id":1,"result":["f",[1,2]]}`},
		{`{"hook":"f"}`, `{"id":1,"result":["f","none"]}`},
		{`{"hook":"f","args":null}`, `{"id":1,"result":["f","none"]}`},
		{" \t{ \"args\" : [ ] ,\t\"hook\" : \"f\" } \t", `{"id":1,"result":["f",[ ]]}`},
		{`{"hook":"caf\u00e9","args":[]}`, `{"id":1,"result":["café",[]]}`},
		{`{"\u0068ook":"f"}`, `{"id":1,"result":["f","none"]}`},

		// Any id is returned as it was written.
		{`{"id":1.50,"hook":"f"}`, `{"id":1.50,"result":["f","none"]}`},
		{`{"id":12345678901234567890123,"hook":"f"}`, `{"id":12345678901234567890123,"result":["f","none"]}`},
		{`{"id":null,"hook":"f"}`, `{"id":null,"result":["f","none"]}`},
		{`{"id":"\u00e9\"\\","hook":"f"}`, `{"id":"\u00e9\"\\","result":["f","none"]}`},
		{`{"id":{"b" : [1, {"}": "]"}]},"hook":"f"}`, `{"id":{"b" : [1, {"}": "]"}]},"result":["f","none"]}`},
		{`{"hook":"f","id":"\\"}`, `{"id":"\\","result":["f","none"]}`},

		// The error of a bad line has the line's id, or its number if it has no id.
		{`{"id":7}`, `{"id":7,"error":"request: \"hook\" is missing"}`},
		{`{"hook":null}`, `{"id":1,"error":"request: \"hook\" is missing"}`},
		{`{"hook":""}`, `{"id":1,"error":"request: \"hook\" is empty"}`},
		{`{"hook":3}`, `{"id":1,"error":"request: \"hook\" is 3, expected text"}`},
		{`{"hook":["f"]}`, `{"id":1,"error":"request: \"hook\" is [\"f\"], expected text"}`},
		{`{"hook":true}`, `{"id":1,"error":"request: \"hook\" is true, expected text"}`},
		{`{"hook":"f","args":"x"}`, `{"id":1,"error":"request: \"args\" is \"x\", expected an object (names) or an array (positions)"}`},
		{`{"hook":"f","args":{},"args":{}}`, `{"id":1,"error":"request: \"args\" is given twice"}`},
		{`{"id":1,"id":2,"hook":"f"}`, `{"id":1,"error":"request: \"id\" is given twice"}`},
		{`{"hook":"f","arg":{}}`, `{"id":1,"error":"request: unknown key \"arg\", expected id, hook and args"}`},
		{`{}`, `{"id":1,"error":"request: \"hook\" is missing"}`},
		{`[]`, `{"id":1,"error":"request: the line is [], expected an object with \"hook\" and \"args\""}`},
		{`"f"`, `{"id":1,"error":"request: the line is \"f\", expected an object with \"hook\" and \"args\""}`},
		{`null`, `{"id":1,"error":"request: the line is null, expected an object with \"hook\" and \"args\""}`},
		{`{"hook":"f","args":[NaN]}`, `{"id":1,"error":"request: the line is not JSON: byte 21: invalid character 'N' looking for beginning of value"}`},
		{`{"hook":"f"`, `{"id":1,"error":"request: the line is not JSON: byte 12: unexpected end of JSON input"}`},
		{`{"hook":"f"}{}`, `{"id":1,"error":"request: the line is not JSON: byte 13: invalid character '{' after top-level value"}`},
		{"{\"hook\":\"\xff\"}", `{"id":1,"error":"request: the line is not UTF-8: byte 10 is 0xff"}`},
	} {
		if got, _ := answers(t, callerFunc(echoed), c.line+"\n", nil); got != c.want+"\n" {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// TestSuggest checks the hints for unknown keys.
func TestSuggest(t *testing.T) {
	for key, want := range map[string][]string{"arg": {"did you mean args?"}, "hok": {"did you mean hook?"}, "Id": {"did you mean id?"}, "parameters": nil} {
		if _, err := (&parser{}).parse([]byte(`{"` + key + `": 1}`)); err == nil || !slices.Equal(hook.Words(err.Hints), want) {
			t.Errorf("%s: %#v, want the hints %q", key, err, want)
		}
	}
}

// TestItems checks the answers to lines that have only arguments.
func TestItems(t *testing.T) {
	for _, c := range []struct {
		items      Items
		line, want string
	}{
		{ByShape, `[1, 2]`, `[1, 2]`},
		{ByShape, ` {"a": 1} `, `{"a": 1}`},
		{ByShape, `"x"`, `["x"]`},
		{ByShape, `null`, `[null]`},
		{ByShape, `5`, `[5]`},
		{Value, `[1, 2]`, `[[1, 2]]`},
		{Value, `{"a": 1}`, `[{"a": 1}]`},
		{Value, ` true `, `[true]`},
		{Text, `[1, 2]`, `["[1, 2]"]`},
		{Text, `  padded `, `["  padded "]`},
		{Text, `a "b" \ ünï`, `["a \"b\" \\ ünï"]`},
		{Text, "nul \x00 tab \t", `["nul \u0000 tab \t"]`},
		{Text, "file-\xff", `["file-\udcff"]`}, // as Python decodes file names
	} {
		got, _ := answers(t, callerFunc(echoed), c.line+"\n", func(o *Options) { o.Hook, o.Items = "h", c.items })
		if want := `{"id":1,"result":["h",` + c.want + "]}\n"; got != want {
			t.Errorf("%v %q\n got %swant %s", c.items, c.line, got, want)
		}
	}
	got, counts := answers(t, callerFunc(echoed), "x\n", func(o *Options) { o.Hook = "h" })
	if want := `{"id":1,"error":"request: the line is not JSON: byte 1: invalid character 'x' looking for beginning of value"}` + "\n"; got != want {
		t.Errorf("got %swant %s", got, want)
	}
	if counts != (Counts{Answered: 1, Failed: 1, Last: 1, Read: 2}) {
		t.Errorf("counts are %+v", counts)
	}
}

// TestLines checks how inputs are split into lines.
func TestLines(t *testing.T) {
	text := func(o *Options) { o.Hook, o.Items = "h", Text }
	line := func(id, text string) string { return `{"id":` + id + `,"result":["h",["` + text + `"]]}` + "\n" }
	for _, c := range []struct {
		name, in, want string
		change         func(*Options)
	}{
		{"nothing", "", "", text},
		{"no newline at the end", "a\nb", line("1", "a") + line("2", "b"), text},
		{"carriage returns", "a\r\nb\r\n", line("1", "a") + line("2", "b"), text},
		{"one at the end of all", "a\r", line("1", "a"), text},
		{"one in the middle", "a\rb\n", line("1", `a\rb`), text},
		{"blank ones", "\n\na\r\n\r\n\nb\n\n", line("3", "a") + line("6", "b"), text},
		{"blanks are text", " \n", line("1", " "), text},
		{"blanks are no JSON", " \n\t\r\n5\n", `{"id":3,"result":["h",[5]]}` + "\n", func(o *Options) { o.Hook = "h" }},
		{"a byte order mark", "\ufeffa\n\ufeffb\n", line("1", "a") + line("2", "\ufeffb"), text},
		{"a byte order mark alone", "\ufeff", "", text},
		{"too long", "12345678\n123456789\r\n12345678\r\n1234567890", line("1", "12345678") +
			`{"id":2,"error":"request: the line has more than 8 bytes"}` + "\n" + line("3", "12345678") +
			`{"id":4,"error":"request: the line has more than 8 bytes"}` + "\n",
			func(o *Options) { text(o); o.MaxLine = 8 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := answers(t, callerFunc(echoed), c.in, c.change); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if got, _ := answers(t, callerFunc(echoed), "", func(o *Options) {
				c.change(o)
				o.In = iotest.OneByteReader(strings.NewReader(c.in))
			}); got != c.want {
				t.Errorf("byte by byte: got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestLongLines reads lines that are longer than the reader's buffer.
func TestLongLines(t *testing.T) {
	const limit = 5 * readSize
	for size, long := range map[int]bool{
		readSize - 1: false, readSize: false, readSize + 1: false, 2*readSize + 7: false, limit: false, limit + 1: true,
		limit + 2: true, 9 * readSize: true,
	} {
		for _, end := range []string{"\n", "\r\n"} {
			in := NewReader(strings.NewReader(strings.Repeat("x", size)+end+"next"), limit, false)
			line, err := in.Next()
			if bad := (*hook.Error)(nil); long != errors.As(err, &bad) || !long && (err != nil || len(line) != size) {
				t.Errorf("%d bytes and %q: got %d and %v", size, end, len(line), err)
			}
			if line, err = in.Next(); string(line) != "next" || err != nil {
				t.Errorf("behind %d bytes: %.20q, %v", size, line, err)
			}
			if _, err = in.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %v", err)
			}
		}
	}
}

// TestReadError checks that the lines before a read error are answered.
func TestReadError(t *testing.T) {
	broken := errors.New("no disk")
	var out bytes.Buffer
	o := options(io.MultiReader(strings.NewReader("1\n2\nhalf"), iotest.ErrReader(broken)), &out)
	o.Hook = "h"
	err := New(callerFunc(echoed), o).Run(t.Context())
	if bad := (*hook.Error)(nil); !errors.As(err, &bad) || !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if want := `{"id":1,"result":["h",[1]]}` + "\n" + `{"id":2,"result":["h",[2]]}` + "\n"; out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

// TestAnswers checks the answer lines of all sorts of results.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		result hook.Result
		want   string
	}{
		{valued([]byte("5")), `"result":5`},
		{valued([]byte("[NaN, 1]")), `"result":[NaN, 1]`},
		{hook.Result{Item: hook.Item{Value: []byte("hi"), Binary: true}}, `"result":"aGk=","binary":true`},
		{hook.Result{Streamed: true}, `"done":true`},
	} {
		caller := callerFunc(func(context.Context, hook.Call) (hook.Result, error) { return c.result, nil })
		if got, _ := answers(t, caller, "1\n", func(o *Options) { o.Hook = "h" }); got != `{"id":1,`+c.want+"}\n" {
			t.Errorf("got %swant %s", got, c.want)
		}
	}
	broken := callerFunc(func(context.Context, hook.Call) (hook.Result, error) { return hook.Result{}, io.ErrNoProgress })
	got, counts := answers(t, broken, "1\n", func(o *Options) { o.Hook = "h" })
	if !strings.HasPrefix(got, `{"id":1,"error":"internal: `) || counts.Failed != 1 {
		t.Errorf("an error of no kind: %s, %+v", got, counts)
	}
}

// noRecord is a record that has no answers and keeps none.
type noRecord struct{}

func (noRecord) Find(Call) (int, func() (*Answer, error)) { return 1, nil }
func (noRecord) Write(lines []byte) (int, error)          { return len(lines), nil }

// TestPartOfLine checks that a line is answered while only a part of the next one has been read.
func TestPartOfLine(t *testing.T) {
	for name, record := range map[string]Record{"no record": nil, "record": noRecord{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, callerFunc(sleeper), func(o *Options) { o.Record = record })
				_, _ = io.WriteString(r.in, "0\n[0")
				r.wants(t, result(1, 0))
				_, _ = io.WriteString(r.in, "]\n0\n0")
				r.wants(t, result(1, 0), result(2, 0), result(3, 0))
				_ = r.in.Close()
				<-r.done
				r.wants(t, result(1, 0), result(2, 0), result(3, 0), result(4, 0))
			})
		})
	}
}

// TestCallText checks that a lone surrogate, as which Python writes a byte that is not UTF-8,
// becomes that byte.
func TestCallText(t *testing.T) {
	var l Line
	err := l.Parse([]byte(`{"hook":"f","text":"a\udc80"}`))
	if err != nil || string(l.Text) != "a\x80" {
		t.Errorf("got %q, %v", l.Text, err)
	}
}
