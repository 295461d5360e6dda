package wire

import "sync/atomic"

// The socket of a background plugin speaks the same frames as the worker's pipe.
//
// [daemon protocol]
// A frame is that of [protocol]. The client numbers its calls from 1, each
// number once per connection; several may run at once. 0 is the connection.
//
// to the daemon
//
//     V version  text that tells builds of pyplug apart, the first frame; see Build. Empty: of any
//                version, which may ask for messages of status and stop alone
//     A ask      the hook and then each argument's word as typed, each ended by a NUL
//     C call     {"hook": name, "words": [base64, ...] | "args": {...} | [...], "files": {word's place: base64},
//                "items": bool, "input": bool, "replay": bool, "timeout_ms": number}; the hook alone
//                has to be there
//     I item     one item of the call's input, if it has one
//     Z end      no body; the input is over
//     W window   4 bytes, little endian: so many more bytes of items, headers included, may come
//     K cancel   no body; the call is answered all the same
//     M message  {"do": "status" | "ready" | "describe" | "template" | "probe" | "restart" | "attach" |
//                "news" | "stop", ...}
//
// from the daemon
//
//     N note     {"took_ms", "sole", "streamed", "binary", "note"}, which belongs to the next R, B, I or
//                Z of the same call
//     R result   the value
//     B bytes    the value was bytes: their base64 text
//     I item     one item of a stream
//     Z end      no body; the stream is over
//     E error    JSON of hook.Told
//     J answer   JSON, to a message
//     W window   4 bytes, little endian: so many more bytes of the input's items may come, likewise
//     X other    text: the daemon's version; nothing was called, and the connection ends
//
// Nothing greets: V and what is asked go out in one write, and X may answer it.
// A call and a message are answered once, as in [protocol], a message by J or E.
// What A asks is answered by R alone if the value is all there is to say: no N,
// one line. The end of the connection cancels its calls. Of each stream, in
// either direction, 262144 bytes of items may be under way, each with the 9 bytes
// of its frame's header, and more after W; one item may always be.
// [/daemon protocol]

// The types of frame of the daemon's socket, beside [Call], [Item], [End],
// [Credit], [Cancel], [Result], [Bytes] and [Error].
const (
	Hail    Type = 'V' // the client's version
	Ask     Type = 'A'
	Message Type = 'M'
	Note    Type = 'N'
	Answer  Type = 'J'
	Other   Type = 'X' // the daemon's version
)

// Side is the frame types that one end of a stream sends.
type Side string

// The sides.
const (
	ToWorker   Side = "LCKWDPQ"
	FromWorker Side = "HYRBIZEOT"
	ToDaemon   Side = "VACIZWKM"
	FromDaemon Side = "NRBIZEJWX"
)

// has tells whether the side sends frames of a type.
func (s Side) has(t Type) bool {
	for i := range len(s) {
		if s[i] == byte(t) {
			return true
		}
	}
	return false
}

// AppendAsk appends an [Ask] frame to dst and returns it; ok is false, and dst
// as it was, when a word holds a NUL or all are longer than [MaxBody].
func AppendAsk(dst []byte, call uint32, hook string, words []string) (_ []byte, ok bool) {
	length, broken := len(hook)+1, hasNUL(hook)
	for _, word := range words {
		length += len(word) + 1
		broken = broken || hasNUL(word)
	}
	if broken || length > MaxBody {
		return dst, false
	}
	body := append(append(make([]byte, 0, length), hook...), 0)
	for _, word := range words {
		body = append(append(body, word...), 0)
	}
	return Append(dst, Ask, call, body), true
}

// ParseAsk reads the body of an [Ask] frame; ok is false when it is none.
func ParseAsk(body []byte) (hook string, words []string, ok bool) {
	start := 0
	for i, b := range body {
		if b != 0 {
			continue
		}
		word := string(body[start:i])
		if start == 0 {
			hook = word
		} else {
			words = append(words, word)
		}
		start = i + 1
	}
	return hook, words, start > 0 && start == len(body)
}

func hasNUL(word string) bool {
	for i := range len(word) {
		if word[i] == 0 {
			return true
		}
	}
	return false
}

// Left is a call that the warm way sent, and whose answer is not plain or takes
// longer than that way waits. Who takes it goes on from there, owns Conn and
// closes it, which cancels a call that still runs. The call must not be sent
// again.
type Left struct {
	// Conn is the descriptor of the connected socket, for net.FileConn, which copies
	// it. It blocks, within limits of the socket's own, which a copy that does not
	// block ignores.
	Conn int
	// Read is what the daemon has sent so far, from the first byte, whole frames
	// and the start of one. It may end in the answer.
	Read []byte
	// Call is the call's number on this connection; later ones are larger.
	Call uint32
	// Name, Hook and Words are the command line's, Words never nil.
	Name, Hook string
	Words      []string
}

// ItemSize is what an item of so many bytes counts in a window of this protocol: no
// stream of empty ones is without a bound.
func ItemSize(length int) int { return HeaderSize + length }

var left atomic.Pointer[Left]

// Leave keeps what the warm way leaves, for one [Take].
func Leave(l *Left) { left.Store(l) }

// Take returns what the warm way left, once; else, and from then on, nil. It is
// safe for concurrent use.
func Take() *Left { return left.Swap(nil) }
