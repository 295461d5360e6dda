package cases

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// key identifies an occurrence of a call. It is a hash. The index holds keys and offsets instead of
// answers, because a record may be much larger than the memory.
type key uint64

var seed = maphash.MakeSeed()

// keyOf returns the key of an occurrence of a call. Occurrences count from 1.
func keyOf(c lines.Call, occurrence int) key {
	text := binary.AppendUvarint(make([]byte, 0, 256), uint64(occurrence))
	text = binary.AppendUvarint(text, uint64(len(c.Hook)))
	text = append(text, c.Hook...)
	if c.Text != nil {
		text = append(append(text, 't'), c.Text...)
	} else {
		text = append(append(text, 'a'), c.Args...)
	}
	return key(maphash.Bytes(seed, text))
}

// isSame reports whether two calls have the same hook and arguments.
func isSame(a, b lines.Call) bool {
	return a.Hook == b.Hook && bytes.Equal(a.Args, b.Args) && bytes.Equal(a.Text, b.Text) && (a.Text == nil) == (b.Text == nil)
}

// entry describes an occurrence in 8 bytes, because there may be millions. It holds the offset of
// the answer and the bit found. The offset is 0 if there is no answer, or if the answer is an
// error.
type entry uint64

// found is set in the entry of a first occurrence after Find has seen it.
const found entry = 1 << 63

// at returns the offset of the answer.
func (e entry) at() int64 { return int64(e &^ found) }

// head is a head line of the record.
type head struct {
	at    int64 // the offset of the line
	files string
}

// read reads the record into the index.
func (r *Record) read() error {
	end := int64(0) // the offset behind the last whole line
	for number := 1; ; number++ {
		line, err := r.page.line(end)
		isEnd := errors.Is(err, io.EOF)
		switch {
		case isEnd && len(r.heads) == 0 && !isTornHead(line), err == nil && number == 1 && !lines.IsHead(line):
			return r.notRecord(line)
		case isEnd:
			r.size = end
			if len(line) == 0 {
				return nil
			}
			if err := r.file.Truncate(end); err != nil {
				return refused("%w", err)
			}
			return nil
		case err != nil:
			return refused("%w", err)
		case lines.IsHead(line):
			err = r.check(line, end)
		default:
			err = r.learn(line, end)
		}
		if err != nil {
			return refused("%s:%d: %w", r.file.Name(), number, err)
		}
		end += int64(len(line) + len("\n"))
	}
}

func (r *Record) notRecord(line []byte) error {
	err := hook.AsError(refused(`%s is not a record: it begins with %s, expected {"record": …}`, r.file.Name(), schema.Quote(schema.Short(string(bytes.TrimSpace(line))))))
	err.Hints = schema.Hints("name a file that does not exist yet")
	return err
}

// learn adds an answer to the index. It replaces an earlier answer of the same occurrence.
func (r *Record) learn(text []byte, at int64) error {
	var l lines.Line
	if bad := l.Parse(text); bad != nil {
		return bad.Err
	}
	n, err := l.Occurrence()
	if err != nil {
		return err
	}
	switch key, err := l.AnswerKey(); {
	case err != nil:
		return err
	case key == "":
		return errors.New(`the line has no answer and no "error"`)
	case key == "error":
		at = 0
	}
	r.index[keyOf(l.Call, n)] = entry(at)
	return nil
}

// Find implements [lines.Record].
func (r *Record) Find(c lines.Call) (occurrence int, read func() (*lines.Answer, error)) {
	k := keyOf(c, 1)
	e := r.index[k]
	if occurrence = 1; e&found == 0 {
		r.index[k] = e | found
	} else {
		r.again[k] = max(r.again[k], 1) + 1
		occurrence = r.again[k]
		e = r.index[keyOf(c, occurrence)]
	}
	if e.at() == 0 {
		return occurrence, nil
	}
	return occurrence, func() (*lines.Answer, error) { return r.answer(e.at(), c, occurrence) }
}

// answer reads the answer at an offset. It returns nil if the answer belongs to another call or
// occurrence with the same key.
func (r *Record) answer(at int64, c lines.Call, occurrence int) (*lines.Answer, error) {
	broken := func(err error) (*lines.Answer, error) { return nil, fmt.Errorf("the answer at byte %d: %w", at, err) }
	text, err := r.page.line(at)
	if err != nil {
		return broken(err)
	}
	var l lines.Line
	if bad := l.Parse(text); bad != nil {
		return broken(bad)
	}
	n, err := l.Occurrence()
	if err == nil && (n != occurrence || !isSame(l.Call, c)) {
		return nil, nil
	}
	kept, wrong := l.Answer()
	if err = cmp.Or(err, wrong); err != nil {
		return broken(err)
	}
	i, _ := slices.BinarySearchFunc(r.heads, at, func(h head, at int64) int { return cmp.Compare(h.at, at) })
	was := r.heads[i-1].files // i > 0, because a record begins with a head line
	if was != "" && r.head.Files != "" && was != r.head.Files {
		r.outdated.Add(1)
	}
	return kept, nil
}

// page reads lines of a file at any offset. Reading successive lines is fast.
type page struct {
	from io.ReaderAt
	at   int64 // the offset of text
	text []byte
}

const pageSize = 256 << 10

// line returns the line at an offset. The line is valid until the next call. For an incomplete last
// line, the error is [io.EOF].
func (p *page) line(at int64) ([]byte, error) {
	if rest := at - p.at; rest >= 0 && rest < int64(len(p.text)) {
		if line, _, ended := bytes.Cut(p.text[rest:], []byte{'\n'}); ended {
			return line, nil
		}
	}
	for size := pageSize; ; size *= 2 {
		text := make([]byte, size)
		n, err := p.from.ReadAt(text, at)
		p.at, p.text = at, text[:n]
		if line, _, ended := bytes.Cut(p.text, []byte{'\n'}); ended {
			return line, nil
		}
		if err != nil {
			return p.text, err
		}
	}
}
