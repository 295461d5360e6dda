package manifest

import (
	"bufio"
	"io"
	"os"
	"path"
	"strings"
)

// pythonName matches the names of interpreters: python3, python3.13t, pypy3.
var pythonName = expression(`^(?:python|pypy)\d*(?:\.\d+)*[a-z]?(?:\.exe)?$`)

// shebang gives the words after "#!" of a script that Python runs, empty for
// any other file.
func shebang(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	const longest = 512 // systems read 256 bytes at most
	line, _ := bufio.NewReader(io.LimitReader(f, longest)).ReadString('\n')
	words, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	fields := strings.Fields(words)
	for i, word := range fields {
		switch {
		case pythonName().MatchString(path.Base(word)):
			return strings.Join(fields, " ")
		case i == 0 && path.Base(word) != "env":
			return ""
		case i > 0 && !strings.HasPrefix(word, "-") && !strings.Contains(word, "="):
			return "" // env runs something else
		}
	}
	return ""
}
