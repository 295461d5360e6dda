//go:build linux || darwin

package health

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
)

// script writes a server's side of a connection, by another's hand than ours.
type script struct {
	*http2.Framer
	out     *bytes.Buffer
	block   bytes.Buffer
	encoder *hpack.Encoder
}

func newScript() *script {
	s := &script{out: new(bytes.Buffer)}
	s.Framer = http2.NewFramer(s.out, nil)
	s.AllowIllegalWrites = true
	s.encoder = hpack.NewEncoder(&s.block)
	return s
}

// encode makes a block of "name: value" lines.
func (s *script) encode(lines ...string) []byte {
	s.block.Reset()
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		_ = s.encoder.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	return bytes.Clone(s.block.Bytes())
}

// step is a part of what a server says.
type step func(*script)

func settings(list ...http2.Setting) step {
	return func(s *script) { _ = s.WriteSettings(list...) }
}

func headers1(end bool, lines ...string) step {
	return func(s *script) {
		_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.encode(lines...), EndStream: end, EndHeaders: true})
	}
}

func data(text string) step {
	return func(s *script) { _ = s.WriteData(1, false, []byte(text)) }
}

func raw(kind http2.FrameType, flags http2.Flags, stream uint32, body string) step {
	return func(s *script) { _ = s.WriteRawFrame(kind, flags, stream, []byte(body)) }
}

func literally(text string) step {
	return func(s *script) { s.out.WriteString(text) }
}

// continued splits a block after its first byte, and lets between come there.
func continued(end bool, between step, lines ...string) step {
	return func(s *script) {
		block := s.encode(lines...)
		_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:1], EndStream: end})
		if between != nil {
			between(s)
		}
		_ = s.WriteContinuation(1, false, block[1:2])
		_ = s.WriteContinuation(1, true, block[2:])
	}
}

const yes = "\x00\x00\x00\x00\x02\x08\x01" // SERVING, with its prefix

var (
	status200 = ":status: 200"
	grpcType  = "content-type: application/grpc"
	status0   = "grpc-status: 0"

	hello = settings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14})
	head  = headers1(false, status200, grpcType)
	body  = data(yes)
	tail  = headers1(true, status0, "grpc-message: ")
)

func play(steps ...step) []byte {
	s := newScript()
	for _, step := range steps {
		step(s)
	}
	return s.out.Bytes()
}

// peer is a server that says what it says, whatever it is told.
type peer struct {
	io.Reader
	told bytes.Buffer
}

func (p *peer) Write(b []byte) (int, error) { return p.told.Write(b) }

var plain = map[string][]step{
	"shortest": {settings(), head, body, tail},
	"as gRPC for Go": {hello, func(s *script) {
		_ = s.WriteSettingsAck()
		_ = s.WriteWindowUpdate(0, 5)
		_ = s.WritePing(false, [8]byte{1})
	}, head, body, tail},
	"a late ack":      {hello, head, body, func(s *script) { _ = s.WriteSettingsAck() }, tail},
	"most settings":   {raw(http2.FrameSettings, 0, 0, strings.Repeat("\x00\x09\x00\x00\x00\x01", maxFrame/6)), head, body, tail},
	"stream's window": {hello, head, func(s *script) { _ = s.WriteWindowUpdate(1, 1<<31-1) }, body, tail},
	"padded":          {hello, head, func(s *script) { _ = s.WriteDataPadded(1, false, []byte(yes), make([]byte, 255)) }, tail},
	"only padding":    {hello, head, func(s *script) { _ = s.WriteDataPadded(1, false, nil, make([]byte, 9)) }, body, tail},
	"padded headers": {hello, func(s *script) {
		_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.encode(status200, grpcType), EndHeaders: true, PadLength: 7})
	}, body, tail},
	"in pieces":     {hello, head, data(yes[:1]), data(""), data(yes[1:6]), data(yes[6:]), tail},
	"continued":     {hello, continued(false, nil, status200, grpcType), body, continued(true, nil, status0, "x: y")},
	"another codec": {hello, headers1(false, status200, "content-type: application/grpc+proto"), body, tail},
	"metadata":      {hello, headers1(false, status200, grpcType, "a: 1", "a: 2", "grpc-encoding: identity", "b: \t\xff"), body, headers1(true, "c: ", status0)},
}

var deviating = map[string][]step{
	"nothing":              {},
	"ssh":                  {literally("SSH-2.0-OpenSSH_9.6\r\n")},
	"HTTP/1":               {literally("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")},
	"TLS alert":            {literally("\x15\x03\x01\x00\x02\x02\x46")},
	"no settings":          {head, body, tail},
	"an ack first":         {func(s *script) { _ = s.WriteSettingsAck() }, hello, head, body, tail},
	"settings of a stream": {raw(http2.FrameSettings, 0, 1, ""), head, body, tail},
	"settings cut short":   {raw(http2.FrameSettings, 0, 0, "\x00\x04\x00"), head, body, tail},
	"settings with an ack": {hello, raw(http2.FrameSettings, http2.FlagSettingsAck, 0, "\x00\x04\x00\x00\x00\x01"), head, body, tail},
	"a window too large":   {settings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31}), head, body, tail},
	"a frame too large":    {hello, head, raw(http2.FramePing, 0, 0, text(maxFrame+1)), body, tail},
	"a ping too short":     {hello, raw(http2.FramePing, 0, 0, "1234567"), head, body, tail},
	"a ping of a stream":   {hello, raw(http2.FramePing, 0, 1, "12345678"), head, body, tail},
	"a window of nothing":  {hello, raw(http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00"), head, body, tail},
	"a window too short":   {hello, raw(http2.FrameWindowUpdate, 0, 0, "\x01"), head, body, tail},
	"GOAWAY":               {hello, func(s *script) { _ = s.WriteGoAway(1, http2.ErrCodeNo, nil) }, head, body, tail},
	"RST_STREAM":           {hello, head, func(s *script) { _ = s.WriteRSTStream(1, http2.ErrCodeNo) }, body, tail},
	"PRIORITY":             {hello, raw(http2.FramePriority, 0, 1, "\x00\x00\x00\x00\x00"), head, body, tail},
	"PUSH_PROMISE": {hello, func(s *script) {
		_ = s.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
	}, head, body, tail},
	"an unknown frame":       {hello, raw(0x42, 0, 0, ""), head, body, tail},
	"another stream":         {hello, head, raw(http2.FrameData, 0, 3, yes), body, tail},
	"no stream":              {hello, head, raw(http2.FrameData, 0, 0, yes), tail},
	"data first":             {hello, body, head, tail},
	"data last":              {hello, head, raw(http2.FrameData, http2.FlagDataEndStream, 1, yes), tail},
	"no data":                {hello, head, tail},
	"a prefix cut short":     {hello, head, data(yes[:4]), tail},
	"a message cut short":    {hello, head, data(yes[:6]), tail},
	"two messages":           {hello, head, body, body, tail},
	"compressed":             {hello, head, data("\x01" + yes[1:]), tail},
	"NOT_SERVING":            {hello, head, data(yes[:6] + "\x02"), tail},
	"UNKNOWN":                {hello, head, data("\x00\x00\x00\x00\x00"), tail},
	"more in the message":    {hello, head, data("\x00\x00\x00\x00\x04\x08\x01\x10\x01"), tail},
	"much data":              {hello, head, data(text(maxData + 1)), tail},
	"padding of all":         {hello, head, raw(http2.FrameData, http2.FlagDataPadded, 1, "\x09"+yes), tail},
	"padding of nothing":     {hello, head, raw(http2.FrameData, http2.FlagDataPadded, 1, ""), body, tail},
	"headers alone":          {hello, headers1(true, status200, grpcType, status0)},
	"headers end the stream": {hello, headers1(true, status200, grpcType), body, tail},
	"headers thrice":         {hello, head, headers1(false, status0), body, tail},
	"headers with priority": {hello, func(s *script) {
		_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.encode(status200, grpcType), EndHeaders: true,
			Priority: http2.PriorityParam{StreamDep: 3}})
	}, body, tail},
	"informational":       {hello, headers1(false, ":status: 103"), head, body, tail},
	"status 503":          {hello, headers1(false, ":status: 503", grpcType), body, tail},
	"no status":           {hello, headers1(false, grpcType), body, tail},
	"two statuses":        {hello, headers1(false, status200, status200, grpcType), body, tail},
	"a late status":       {hello, headers1(false, grpcType, status200), body, tail},
	"a request's header":  {hello, headers1(false, status200, ":path: /", grpcType), body, tail},
	"HTML":                {hello, headers1(false, status200, "content-type: text/html"), body, tail},
	"nearly gRPC":         {hello, headers1(false, status200, "content-type: application/grpc-web"), body, tail},
	"no type":             {hello, headers1(false, status200), body, tail},
	"two types":           {hello, headers1(false, status200, grpcType, grpcType), body, tail},
	"gzip":                {hello, headers1(false, status200, grpcType, "grpc-encoding: gzip"), body, tail},
	"an early status":     {hello, headers1(false, status200, grpcType, status0), body, tail},
	"upper case":          {hello, headers1(false, status200, grpcType, "Name: x"), body, tail},
	"no name":             {hello, headers1(false, status200, grpcType, ": x"), body, tail},
	"a control character": {hello, headers1(false, status200, grpcType, "x: \x00"), body, tail},
	"binary metadata":     {hello, headers1(false, status200, grpcType, "x-bin: !"), body, tail},
	"grpc-status 5":       {hello, head, body, headers1(true, "grpc-status: 5")},
	"grpc-status 00":      {hello, head, body, headers1(true, "grpc-status: 00")},
	"no grpc-status":      {hello, head, body, headers1(true, "x: y")},
	"two grpc-statuses":   {hello, head, body, headers1(true, status0, status0)},
	"a status at the end": {hello, head, body, headers1(true, status200, status0)},
	"no end":              {hello, head, body, headers1(false, status0)},
	"nothing behind":      {hello, head, body},
	"cut in a frame":      {hello, head, body, literally("\x00\x00\x09\x01\x05\x00\x00\x00\x01")},
	"cut in a block":      {hello, raw(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, "\x88\x40"), body, tail},
	"not HPACK":           {hello, raw(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, "\xff\xff\xff\xff\xff\xff"), body, tail},
	"continued by a ping": {hello, continued(false, func(s *script) { _ = s.WritePing(false, [8]byte{}) }, status200, grpcType), body, tail},
	"not continued":       {hello, raw(http2.FrameHeaders, 0, 1, "\x88"), body, tail},
	"nothing continued":   {hello, head, func(s *script) { _ = s.WriteContinuation(1, true, nil) }, body, tail},
	"headers too large":   {hello, head, body, bomb},
	"endless":             {hello, func(s *script) { s.out.Write(bytes.Repeat(play(settings()), maxAnswer/9)) }, head, body, tail},
}

// bomb is a small block that becomes a large one: one entry of the table, over
// and over.
func bomb(s *script) {
	block := append(s.encode(status0, "x: "+text(3000)), bytes.Repeat([]byte{0x80 | 62}, 1000)...)
	_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true})
}

func TestCall(t *testing.T) {
	for name, steps := range plain {
		if got, ok := call(&peer{Reader: bytes.NewReader(play(steps...))}, "a", "/m", ""); !ok || got != healthServing {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	for name, steps := range deviating {
		if got, ok := call(&peer{Reader: bytes.NewReader(play(steps...))}, "a", "/m", ""); ok && got == healthServing {
			t.Errorf("%s is taken for plain", name)
		}
	}
}

// TestCallTells holds what is sent, as another reads it.
func TestCallTells(t *testing.T) {
	p := &peer{Reader: bytes.NewReader(play(plain["as gRPC for Go"]...))}
	call(p, "host:80", healthMethod, health{service: "sick"}.message())
	if got := string(p.told.Next(len(http2.ClientPreface))); got != http2.ClientPreface {
		t.Errorf("the preface is %q", got)
	}
	framer := http2.NewFramer(nil, &p.told)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	var got []string
	for {
		f, err := framer.ReadFrame()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		line := f.Header().String()
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			for _, field := range f.Fields {
				line += " " + field.Name + "=" + field.Value
			}
			line = line[strings.Index(line, " :method"):]
		case *http2.DataFrame:
			line += " " + string(f.Data())
		}
		got = append(got, line)
	}
	want := []string{
		"[FrameHeader SETTINGS len=0]",
		" :method=POST :scheme=http :path=/grpc.health.v1.Health/Check :authority=host:80 content-type=application/grpc" +
			" user-agent=grpc-go/" + grpc.Version + " te=trailers grpc-timeout=250m",
		"[FrameHeader DATA flags=END_STREAM stream=1 len=11] \x00\x00\x00\x00\x06\x0a\x04sick",
		"[FrameHeader SETTINGS flags=ACK len=0]",
		"[FrameHeader PING flags=ACK len=8]",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// FuzzCall holds that what is taken for an answer is one for x/net's reader, too.
func FuzzCall(f *testing.F) {
	for _, all := range []map[string][]step{plain, deviating} {
		for _, steps := range all {
			if said := play(steps...); len(said) < maxFrame { // or the fuzzer does little but shorten them
				f.Add(said)
			}
		}
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		if _, ok := call(&peer{Reader: bytes.NewReader(said)}, "a", "/m", ""); !ok {
			return
		}
		framer := http2.NewFramer(nil, bytes.NewReader(said))
		framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				t.Fatalf("%v in %q", err, said)
			}
			if h, ok := frame.(*http2.MetaHeadersFrame); ok && h.StreamEnded() {
				return
			}
		}
	})
}
