package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRoundTrip(t *testing.T) {
	big := bytes.Repeat([]byte("abcdefgh"), 500_000)
	frames := []Frame{
		{Type: Hello, Body: []byte(`{"wire":1}`)},
		{Type: Call, Call: 1, Body: []byte(`{"hook":"greet"}`)},
		{Type: End, Call: 1<<32 - 1},
		{Type: Result, Call: 7, Body: big},
		{Type: Result, Call: 8, Body: []byte("null")},
	}
	var stream []byte
	for _, f := range frames {
		half := len(f.Body) / 2
		stream = Append(stream, f.Type, f.Call, f.Body[:half], f.Body[half:])
	}
	sources := map[string]func() io.Reader{
		"whole":         func() io.Reader { return bytes.NewReader(stream) },
		"data with end": func() io.Reader { return iotest.DataErrReader(bytes.NewReader(stream)) },
		"halves":        func() io.Reader { return iotest.HalfReader(bytes.NewReader(stream)) },
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			r := NewReader(source(), 0)
			for i, want := range frames {
				got, err := r.Next()
				if err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
				if got.Type != want.Type || got.Call != want.Call || !bytes.Equal(got.Body, want.Body) {
					t.Fatalf("frame %d: got %c %d with %d bytes, want %c %d with %d", i,
						got.Type, got.Call, len(got.Body), want.Type, want.Call, len(want.Body))
				}
			}
			if _, err := r.Next(); !errors.Is(err, io.EOF) {
				t.Fatalf("after the last frame: %v, want EOF", err)
			}
		})
	}
}

// hesitant is a stream that has one byte at a time, and nothing in between.
type hesitant struct {
	src   io.Reader
	ready bool
}

var errNotYet = errors.New("nothing has come")

func (h *hesitant) Read(b []byte) (int, error) {
	if h.ready = !h.ready; !h.ready {
		return h.src.Read(b[:1])
	}
	return 0, errNotYet
}

// After an error of the stream's that passes, reading goes on where it was.
func TestGoesOn(t *testing.T) {
	frames := []Frame{{Type: Call, Call: 1, Body: []byte("hello")}, {Type: End, Call: 2}, {Type: Result, Call: 3, Body: []byte("null")}}
	var stream []byte
	for _, f := range frames {
		stream = Append(stream, f.Type, f.Call, f.Body)
	}
	r := NewReader(&hesitant{src: bytes.NewReader(stream)}, 0)
	var got []byte
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err == nil:
			got = Append(got, f.Type, f.Call, f.Body)
		case !errors.Is(err, errNotYet):
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, stream) {
		t.Errorf("got %q, want %q", got, stream)
	}
}

// A frame that is cut at any byte is told as such, never as a clean end.
func TestCutAtEachByte(t *testing.T) {
	whole := Append(nil, Result, 3, []byte(`"hello"`))
	for n := 1; n < len(whole); n++ {
		_, err := NewReader(iotest.OneByteReader(bytes.NewReader(whole[:n])), 0).Next()
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut after %d bytes: %v, want unexpected EOF", n, err)
		}
	}
}

func TestBadHeaders(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a line of text", "Loading the model\n", "unknown frame type"},
		{"too long", "\xff\xff\xff\x7fR\x01\x00\x00\x00", "impossible length in the frame header ff ff ff 7f 52 01 00 00 00"},
		{"zeros", strings.Repeat("\x00", 20), "unknown frame type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewReader(strings.NewReader(c.in), 0).Next()
			var header *HeaderError
			if !errors.As(err, &header) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A length is a claim: memory is taken only as bytes come.
func TestClaimCostsNoMemory(t *testing.T) {
	claim := Append(nil, Result, 1)
	copy(claim, []byte{0, 0, 0, 0x1f}) // 496 MiB
	grew := testing.AllocsPerRun(1, func() {
		if _, err := NewReader(bytes.NewReader(claim), 0).Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	})
	if grew > 20 {
		t.Errorf("%v allocations for a body that never came", grew)
	}
	r := NewReader(bytes.NewReader(claim), 0)
	if _, err := r.Next(); err == nil || cap(r.buf) > step {
		t.Fatalf("buffer of %d bytes, err %v", cap(r.buf), err)
	}
}

func TestNumber(t *testing.T) {
	for _, n := range []uint32{0, 1, 255, 256, Window, 1<<32 - 1} {
		if got, ok := Number(PutNumber(n)); !ok || got != n {
			t.Errorf("%d came back as %d, %v", n, got, ok)
		}
	}
	if _, ok := Number([]byte{1, 2, 3}); ok {
		t.Error("three bytes were taken for a number")
	}
}

func FuzzReader(f *testing.F) {
	f.Add(Append(Append(nil, Hello, 0, []byte("{}")), Result, 1, []byte("null")), 3)
	f.Add([]byte("\xff\xff\xff\xffR...."), 1)
	f.Fuzz(func(t *testing.T, stream []byte, chunk int) {
		const limit = 1 << 16
		var src io.Reader = bytes.NewReader(stream)
		if chunk%2 == 1 {
			src = iotest.OneByteReader(src)
		}
		r := NewReader(src, limit)
		var again []byte
		for {
			frame, err := r.Next()
			if err != nil {
				break
			}
			if len(frame.Body) > limit {
				t.Fatalf("a body of %d bytes passed the limit", len(frame.Body))
			}
			again = Append(again, frame.Type, frame.Call, frame.Body)
		}
		if !bytes.HasPrefix(stream, again) {
			t.Fatalf("what was read is not what came:\n%x\n%x", again, stream)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	one := Append(nil, Result, 1, []byte(`"Hello, World"`))
	stream := bytes.Repeat(one, 1000)
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(stream), 0)
		for range 1000 {
			if _, err := r.Next(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
