//go:build linux || darwin

package call

import (
	"errors"
	"syscall"

	"github.com/pyplug/pyplug/commands/warm"
	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// maxResult is the longest result that it prints.
	maxResult = 1 << 20
	// ahead is how much is read at first. With 4 KB, more memory would have to be
	// found, for the stack too, and a call would take 7% longer.
	ahead = 512
	// callNumber is that of the one call of the connection.
	callNumber = 1
)

// hookCall is a call of a background plugin's hook.
type hookCall struct {
	name, hook string
	words      []string
}

// readCall reads the words behind "call". It refuses what may be a flag, and
// what names a file, which is the client's to read.
func readCall(words []string) (c hookCall, ok bool) {
	if len(words) < 2 || !wire.ValidName(words[0]) {
		return c, false
	}
	for _, word := range words {
		_, flag := warm.CutPrefix(word, "-")
		_, _, text := warm.Cut(word, "@=")
		_, _, json := warm.Cut(word, ":=@")
		if flag || text || json {
			return c, false
		}
	}
	return hookCall{words[0], words[1], words[2:]}, true
}

// answer makes the call. It returns the line to print, or what is left of the
// call once it was sent, or both: a line that cannot be printed is left, too.
// Both are nil when nothing was sent.
func (c hookCall) answer() (line []byte, left *wire.Left) {
	deadline := now() + patience
	request := wire.Append(nil, wire.Hail, 0, []byte(wire.Build()))
	request, ok := wire.AppendAsk(request, callNumber, c.hook, c.words)
	if !ok {
		return nil, nil
	}
	conn, ok := c.connect()
	if !ok {
		return nil, nil
	}
	if !conn.send(request, deadline) {
		conn.close() // half a frame is no call
		return nil, nil
	}
	read := conn.receive(deadline)
	left = &wire.Left{
		Conn: int(conn), Read: read,
		Call: callNumber, Name: c.name, Hook: c.hook, Words: c.words,
	}
	return plainResult(read), left
}

// connect connects to the plugin of the name. A directory that is not as it has
// to be is for the ordinary way to tell.
func (c hookCall) connect() (conn local, ok bool) {
	for _, dir := range wire.RunDirs() {
		path, fits := wire.SocketPath(dir, c.name)
		if !fits {
			continue
		}
		switch err := wire.CheckDir(dir); {
		case errors.Is(err, syscall.ENOENT):
			continue
		case err != nil:
			return 0, false
		}
		if conn, ok = connectLocal(path); ok {
			return conn, true
		}
	}
	return 0, false
}

// receive reads until there is one whole [wire.Result] frame, or something else,
// or no more in time. It reads no further than it has to.
func (l local) receive(deadline int64) []byte {
	read := make([]byte, 0, ahead)
	for {
		wanted, known := resultSize(read)
		if known && len(read) >= wanted {
			return read
		}
		if wanted+1 > cap(read) { // 1 for the newline
			read = append(make([]byte, 0, wanted+1), read...)
		}
		n := l.read(read[len(read):cap(read)], deadline)
		if n <= 0 {
			return read
		}
		read = read[:len(read)+n]
	}
}

// resultSize is how long the frame at the start is, as soon as that is known. It
// is 0, and known, for what is no result of the call, or too long a one.
func resultSize(read []byte) (size int, known bool) {
	if len(read) < wire.HeaderSize {
		return wire.HeaderSize, false
	}
	length, _ := wire.Number(read[:4])
	call, _ := wire.Number(read[5:wire.HeaderSize])
	if wire.Type(read[4]) != wire.Result || call != callNumber || length > maxResult {
		return 0, true
	}
	return wire.HeaderSize + int(length), true
}

// plainResult is the line of a result that is all there is, nil for all else.
// It has the place of the bytes in read, so that a long one is not copied: its
// newline is behind them.
func plainResult(read []byte) []byte {
	if size, known := resultSize(read); !known || size != len(read) {
		return nil
	}
	value := read[wire.HeaderSize:]
	if len(value) == 0 || value[0] <= ' ' || value[len(value)-1] <= ' ' {
		return nil // the ordinary way makes one line of it
	}
	for _, c := range value {
		if c == '\r' || c == '\n' {
			return nil // here, too
		}
	}
	return append(value, '\n')
}
