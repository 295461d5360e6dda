//go:build linux || darwin

package fastcall

import (
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	// answerTimeout is how long the answer may take.
	answerTimeout = 200 * time.Millisecond
	// maxResult is the longest result that is printed here.
	maxResult = 1 << 20
	// maxSocket is the longest path of a socket.
	maxSocket = 103
)

// Left is a call that was sent and not answered here. Who takes it continues it.
type Left struct {
	Name string
	Conn *os.File // the connection
	Read []byte   // what was read from it
}

var left *Left

// Take returns the call that was left, once; nil if none was.
func Take() *Left {
	taken := left
	left = nil
	return taken
}

func init() {
	if len(os.Args) < 4 || os.Args[1] != "call" {
		return
	}
	if name, words := os.Args[2], os.Args[3:]; plainWords(os.Args[2:]) && validName(name) && plainEnvironment() && plainOutput() {
		call(name, words[0], words[1:])
	}
}

// plainWords reports whether no word can be a flag, name a file, or need another
// encoding than UTF-8.
func plainWords(words []string) bool {
	for _, word := range words {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "@") || strings.ToValidUTF8(word, "") != word {
			return false
		}
	}
	return words[1] != "" && words[1] != "." && words[1] != ".."
}

// validName is the rule of daemon.ValidName.
func validName(name string) bool {
	return name != "" && name[0] != '-' && name[0] != '_' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// plainEnvironment reports whether no variable is a flag, forces colours or makes Go
// log.
func plainEnvironment() bool {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name == "PYPLUG_RUN_DIR", name == "PYPLUG_PYTHON", value == "":
		case strings.HasPrefix(name, "PYPLUG_"), name == "FORCE_COLOR", name == "CLICOLOR_FORCE", name == "GODEBUG":
			return false
		}
	}
	return true
}

// plainOutput reports whether standard output is no terminal, which gets colours.
func plainOutput() bool {
	info, err := os.Stdout.Stat()
	if err != nil {
		return false
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// call makes the call. It returns if the ordinary way is to make or continue it.
func call(name, hook string, words []string) {
	deadline := time.Now().Add(answerTimeout)
	fd, ok := connect(name)
	if !ok {
		return
	}
	request := request(hook, words)
	if !setTimeout(fd, syscall.SO_SNDTIMEO, deadline) || len(request) > maxResult {
		_ = syscall.Close(fd)
		return
	}
	for sent := 0; sent < len(request); {
		n, err := syscall.Write(fd, request[sent:])
		if err != nil && err != syscall.EINTR {
			_ = syscall.Close(fd) // a part of a request is no call
			return
		}
		sent += max(n, 0)
	}
	read := make([]byte, 0, 1024)
	for {
		result, whole, plain := parse(read)
		if plain && whole {
			print(result)
		}
		if !plain || whole || !setTimeout(fd, syscall.SO_RCVTIMEO, deadline) {
			break
		}
		if len(read) == cap(read) {
			read = append(read, make([]byte, len(read))...)[:len(read)]
		}
		n, err := syscall.Read(fd, read[len(read):cap(read)])
		if n <= 0 && err != syscall.EINTR {
			break
		}
		read = read[:len(read)+max(n, 0)]
	}
	left = &Left{name, os.NewFile(uintptr(fd), name), read}
}

// request is the request for a call, as docs/http.md documents it.
func request(hook string, words []string) []byte {
	body := `{"words":[`
	for i, word := range words {
		if i > 0 {
			body += ","
		}
		body += `{"typed":` + quote(word) + "}"
	}
	body += "]}"
	return []byte("POST /hooks/" + escape(hook) + " HTTP/1.1\r\nHost: pyplug\r\nPyplug-Api: 1\r\n" +
		"Content-Type: application/vnd.pyplug.words+json\r\nContent-Length: " + decimal(len(body)) + "\r\n\r\n" + body)
}

const hex = "0123456789ABCDEF"

// quote is a text as JSON.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			b.WriteString(`\u00` + string(hex[c>>4]) + string(hex[c&15]))
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escape is a hook's name as a segment of a path.
func escape(hook string) string {
	var b strings.Builder
	for i := range len(hook) {
		c := hook[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}

func decimal(n int) string {
	if n < 10 {
		return string(hex[n])
	}
	return decimal(n/10) + string(hex[n%10])
}

// parse reads an answer as far as it came. plain is false for anything but a result of
// one line that has no notes; whole reports whether all of it is there.
func parse(read []byte) (result []byte, whole, plain bool) {
	text := string(read[:min(len(read), 4096)])
	header, _, ok := strings.Cut(text, "\r\n\r\n")
	if !ok {
		return nil, false, len(text) < 4096
	}
	lines := strings.Split(header, "\r\n")
	length, api, json := -1, false, false
	for _, line := range lines[1:] {
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "Pyplug-Api":
			api = value == "1"
		case "Content-Type":
			json = value == "application/json"
		case "Content-Length":
			length = number(value)
		case "Pyplug-Notes":
			return nil, false, false
		}
	}
	start := len(header) + len("\r\n\r\n")
	switch {
	case lines[0] != "HTTP/1.1 200 OK", !api, !json, length < 1, length > maxResult, len(read) > start+length:
		return nil, false, false
	case len(read) < start+length:
		return nil, false, true
	}
	result = read[start:]
	value := string(result)
	if value[0] <= ' ' || value[len(value)-1] <= ' ' || strings.ContainsAny(value, "\r\n") {
		return nil, false, false // the ordinary way makes one line of it
	}
	return result, true, true
}

// number reads a length; -1 if it is none.
func number(text string) int {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > maxResult {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// print prints a result and ends the process. It returns if nothing could be printed:
// then the ordinary way says why.
func print(result []byte) {
	line := append(result, '\n')
	for rest := line; ; {
		n, err := syscall.Write(syscall.Stdout, rest)
		rest = rest[max(n, 0):]
		switch {
		case len(rest) == 0, err == syscall.EPIPE: // a reader that is gone is no error
			syscall.Exit(0)
		case err == syscall.EAGAIN: // standard output does not block
			time.Sleep(time.Millisecond)
		case err != nil && err != syscall.EINTR && len(rest) == len(line):
			return
		case err != nil && err != syscall.EINTR:
			_, _ = os.Stderr.WriteString("error: standard output: write /dev/stdout: " + err.Error() + "\n")
			syscall.Exit(1)
		}
	}
}

// connect connects to the daemon of a name.
func connect(name string) (fd int, ok bool) {
	for _, dir := range runDirs() {
		path := dir + "/" + name + ".sock"
		var stat syscall.Stat_t
		if len(path) > maxSocket || syscall.Lstat(dir, &stat) == syscall.ENOENT {
			continue
		}
		if uint32(stat.Mode)&(syscall.S_IFMT|0o777) != syscall.S_IFDIR|0o700 || int(stat.Uid) != os.Geteuid() {
			return 0, false // the ordinary way says what is wrong
		}
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return 0, false
		}
		syscall.CloseOnExec(fd)
		if setTimeout(fd, syscall.SO_SNDTIMEO, time.Now().Add(answerTimeout)) && syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) == nil {
			return fd, true
		}
		_ = syscall.Close(fd)
	}
	return 0, false
}

// runDirs is the rule of daemon.RunDirs.
func runDirs() []string {
	if dir := os.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	own := []string{"/tmp/pyplug-" + decimal(os.Geteuid())}
	base := os.Getenv("XDG_RUNTIME_DIR")
	var stat syscall.Stat_t
	if !strings.HasPrefix(base, "/") || syscall.Stat(base, &stat) != nil || int(stat.Uid) != os.Geteuid() {
		return own
	}
	return append([]string{strings.TrimRight(base, "/") + "/pyplug"}, own...)
}

// setTimeout bounds the system calls on a socket by a deadline; false if it is over.
func setTimeout(fd, option int, deadline time.Time) bool {
	remaining := time.Until(deadline)
	t := syscall.NsecToTimeval(max(int64(remaining), 1000))
	return remaining > 0 && syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &t) == nil
}
