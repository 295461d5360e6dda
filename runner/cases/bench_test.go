package cases

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
)

// BenchmarkRecord answers 100 000 lines: without a record, with a new one, and from one that has all.
func BenchmarkRecord(b *testing.B) {
	const n = 100_000
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, `{"hook":"f","args":[%d]}`+"\n", i)
	}
	answer := func(b *testing.B, r *Record) {
		o := lines.Options{In: strings.NewReader(in.String()), Out: io.Discard, Error: func(int, *hook.Error) json.RawMessage { return nil }}
		if r != nil {
			o.Record = r
		}
		if err := lines.New(&caller{}, o).Run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	open := func(b *testing.B, path string) *Record {
		r, err := OpenRecord(path, Head{})
		if err == nil {
			err = r.Begin("")
		}
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	full := filepath.Join(b.TempDir(), "full")
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			answer(b, nil)
		}
	})
	b.Run("new", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r := open(b, fmt.Sprint(full, i))
			answer(b, r)
			r.Close()
		}
	})
	r := open(b, full)
	answer(b, r)
	r.Close()
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			r := open(b, full)
			answer(b, r)
			r.Close()
		}
	})
}
