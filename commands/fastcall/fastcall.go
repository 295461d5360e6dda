//go:build linux || darwin

package fastcall

import (
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	// answerTimeout is the timeout of each step of the call.
	answerTimeout = 200 * time.Millisecond
	// maxAnswer is the size of the longest answer that fastcall prints.
	maxAnswer = 1 << 20
)

func init() {
	if len(os.Args) < 4 || os.Args[1] != "call" {
		return
	}
	if name, words := os.Args[2], os.Args[3:]; validName(name) && plainWords(words) && plainEnvironment() && plainOutput() {
		call(name, request(words[0], words[1:]))
	}
}

// validName has the same rule as daemon.ValidName.
func validName(name string) bool {
	return name != "" && name[0] != '-' && name[0] != '_' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// plainWords reports whether no word can be a flag, name a file, or need another encoding than
// UTF-8, and the first word can be a hook.
func plainWords(words []string) bool {
	for _, word := range words {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "@") || strings.ToValidUTF8(word, "") != word {
			return false
		}
	}
	return words[0] != ""
}

// plainEnvironment reports whether no variable sets a flag, forces colors or makes Go log.
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

// plainOutput reports whether standard output is not a terminal. A terminal gets colors.
func plainOutput() bool {
	info, err := os.Stdout.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return err == nil
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// call makes the call. It returns if the ordinary code must make or continue the call.
func call(name, request string) {
	to := connect(name)
	if to == nil { // a plugin of my_tool.py has the name my-tool
		to = connect(strings.ReplaceAll(name, "_", "-"))
	}
	if to == nil {
		return
	}
	if _, err := to.Conn.WriteString(request); err != nil {
		_ = to.Conn.Close() // a partial request is not a call
		return
	}
	part := make([]byte, 32<<10)
	for more := true; more; {
		n, _ := to.Conn.Read(part) // an error ends the loop, because no bytes are read
		to.Read = append(to.Read, part[:n]...)
		result := ""
		if result, more = parse(string(to.Read)); result != "" {
			print(result + "\n")
		}
		more = more && n > 0 && len(to.Read) < maxAnswer
	}
	left = to
}

// connect connects to the daemon of a name, in one of the run directories. It returns nil if no
// daemon accepts.
func connect(name string) *Left {
	for _, dir := range runDirs() {
		if !safeDir(dir) {
			continue // if no directory has the name, the ordinary code reports the reason
		}
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return nil
		}
		syscall.CloseOnExec(fd)
		timeout := syscall.NsecToTimeval(int64(answerTimeout))
		_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &timeout)
		_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &timeout)
		if syscall.Connect(fd, &syscall.SockaddrUnix{Name: dir + "/" + name + ".sock"}) == nil {
			return &Left{Dir: dir, Name: name, Conn: os.NewFile(uintptr(fd), name)}
		}
		_ = syscall.Close(fd)
	}
	return nil
}

// safeDir has the same rule for a run directory as package daemon.
func safeDir(dir string) bool {
	var stat syscall.Stat_t
	return strings.HasPrefix(dir, "/") && syscall.Lstat(dir, &stat) == nil &&
		uint32(stat.Mode)&(syscall.S_IFMT|0o777) == syscall.S_IFDIR|0o700 && int(stat.Uid) == os.Geteuid()
}

// runDirs has the same rule as daemon.RunDirs.
func runDirs() []string {
	if dir := os.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	own := "/tmp/pyplug-" + decimal(os.Geteuid())
	base := os.Getenv("XDG_RUNTIME_DIR")
	var stat syscall.Stat_t
	if !strings.HasPrefix(base, "/") || syscall.Stat(base, &stat) != nil || int(stat.Uid) != os.Geteuid() {
		return []string{own}
	}
	return []string{strings.TrimRight(base, "/") + "/pyplug", own}
}

// request returns the request for a call, as docs/http.md documents it.
func request(hook string, words []string) string {
	body := `{"words":[`
	for i, word := range words {
		if i > 0 {
			body += ","
		}
		body += `{"typed":"` + escape(word, `\u00`, func(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }) + `"}`
	}
	body += "]}"
	target := "/hooks/" + escape(hook, "%", func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
	})
	return "POST " + target + " HTTP/1.1\r\nHost: pyplug\r\nPyplug-Api: 1\r\n" +
		"Content-Type: application/vnd.pyplug.words+json\r\nContent-Length: " + decimal(len(body)) + "\r\n\r\n" + body
}

const hex = "0123456789ABCDEF"

// escape writes each byte that is not plain as mark and two hexadecimal digits.
func escape(text, mark string, plain func(c byte) bool) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(mark + string(hex[c>>4]) + string(hex[c&15]))
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

// parse parses the bytes of an answer so far. result is "" unless they are a complete
// result on one line without notes. more reports whether further bytes may complete it.
func parse(answer string) (result string, more bool) {
	header, body, ok := strings.Cut(answer, "\r\n\r\n")
	has := func(line string) bool { return strings.Contains(header+"\r\n", "\r\n"+line) }
	switch {
	case !ok:
		return "", true
	case !strings.HasPrefix(header, "HTTP/1.1 200 OK\r\n"), !has("Pyplug-Api: 1\r\n"), !has("Content-Type: application/json\r\n"),
		!has("Content-Length: "), has("Pyplug-Notes: "):
		return "", false
	case !has("Content-Length: " + decimal(len(body)) + "\r\n"):
		return "", true
	case strings.TrimSpace(body) != body, strings.ContainsAny(body, "\r\n"):
		return "", false // the ordinary code converts it to one line
	}
	return body, false
}

// print prints a line and ends the process. It returns if nothing could be printed. The ordinary
// code then reports the reason.
func print(line string) {
	fd, err := syscall.Dup(syscall.Stdout) // os ends the process with SIGPIPE only for descriptor 1
	if err != nil {
		return
	}
	n, err := os.NewFile(uintptr(fd), "/dev/stdout").WriteString(line)
	failed, _ := err.(*os.PathError)
	switch {
	case err == nil, failed != nil && failed.Err == syscall.EPIPE: // a reader that has gone away is not an error
		syscall.Exit(0)
	case n > 0:
		_, _ = os.Stderr.WriteString("error: standard output: " + err.Error() + "\n")
		syscall.Exit(1)
	}
}
