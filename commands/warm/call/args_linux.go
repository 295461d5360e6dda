package call

import "syscall"

// commandLine is the words behind the program's name; none where they cannot be
// read. Package os has them, too, but its turn comes after that of packages which
// take longer than a call's own part, and after that of github.com/BurntSushi/toml,
// which reads the time zone.
func commandLine() (words []string) {
	fd, err := syscall.Open("/proc/self/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	text := make([]byte, 0, ahead)
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := syscall.Read(fd, text[len(text):cap(text)])
		if n > 0 {
			text = text[:len(text)+n]
			continue
		}
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return nil
		}
	}
	start, named := 0, false
	for i, c := range text {
		if c != 0 {
			continue
		}
		if named {
			words = append(words, string(text[start:i]))
		}
		start, named = i+1, true
	}
	return words
}
