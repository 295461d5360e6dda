package wire

// The header below stands word for word in runner/pyworker/worker.py; a test
// holds the two equal.
//
// [protocol]
// A frame is
//
//     length   4 bytes, little endian: how many bytes the body has
//     type     1 byte, a letter
//     call     4 bytes, little endian: the call's number, 0 for the worker itself
//     body     JSON in UTF-8 unless said otherwise; lone surrogates are escaped
//
// to the worker
//
//     L load     {"nan": "error" | "null" | "literal", "probe": name, "calls": "ahead" | "threads", "preload": "auto" | "force"}, the first frame
//     C call     {"hook": name, "args": [...], "kwargs": {...}}, the last two may be absent
//     K cancel   no body; the call is answered all the same
//     W window   4 bytes, little endian: so many more bytes of items may come
//     D describe name of one hook, or null for all
//     P probe    no body
//     Q quit     no body; the worker ends as a Python program ends
//
// from the worker
//
//     H hello    {"wire": 1, "python": version, "implementation": name, "pid": number}
//     Y ready    {"module": name}, the answer to load; with preload "zygote": true, or "exec": why it is none
//     R result   the value; to describe {"hooks": [...]}, to probe {"degraded": reason} or {}
//     B bytes    the value was bytes: their base64 text
//     I item     one item of a stream
//     Z end      no body; the stream is over
//     E error    {"reason": word, "message": text, "python": {"type", "message", "frames", "cause", "group"}, ...}
//     O overlap  no body; from now on a call may begin before those before it are answered
//     T trace    {"frames": [...]}, where a cancelled call is that goes on; no answer, and one may have come
//
// A call is answered once: by R, B or E, or by I any number of times and then Z
// or E. Of each stream 262144 bytes of items may be under way, and more after W;
// one item may always be. The words of E, and what comes with them:
//
//     raised       the hook raised
//     load         the file could not be loaded
//     result       the value cannot be represented; "place" says where, such as "$.items[3]"
//     arguments    they do not fit the hook
//     hook         there is no such hook; "hooks" lists those there are, "why" may say more
//     canceled     the call was cancelled before it ended
//     old          this Python is older than the worker supports
// [/protocol]

// Version is the wire's version, told in hello.
const Version = 1

// Window is how many bytes of a stream's items may be under way.
const Window = 262144

// HeaderSize is the length of a frame's header.
const HeaderSize = 9

// Type is a frame's type.
type Type byte

// The types of frame to the worker.
const (
	Load     Type = 'L'
	Call     Type = 'C'
	Cancel   Type = 'K'
	Credit   Type = 'W'
	Describe Type = 'D'
	Probe    Type = 'P'
	Quit     Type = 'Q'
)

// The types of frame from the worker.
const (
	Hello   Type = 'H'
	Ready   Type = 'Y'
	Result  Type = 'R'
	Bytes   Type = 'B'
	Item    Type = 'I'
	End     Type = 'Z'
	Error   Type = 'E'
	Overlap Type = 'O'
	Trace   Type = 'T'
)
