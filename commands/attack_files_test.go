//go:build linux

package commands_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// keepsFiles calls hooks that keep files open, in a plugin that is started in a random way, and
// stops the plugin. Its files must then contain each accepted token exactly once.
func (a *attack) keepsFiles() {
	dir, err := os.MkdirTemp(a.dir, "files")
	if err != nil {
		a.t.Error(err)
		return
	}
	flags := [][]string{{}, {"--workers", "2"}, {"--preload", "off"}, {"--max-calls", "5"}}[rand.IntN(4)]
	way := []func(flags, env, tokens []string) bool{a.putLines, a.putCalls}[rand.IntN(2)]
	tokens := make([]string, 5+rand.IntN(15))
	for i := range tokens {
		tokens[i] = fmt.Sprintf("put-%d", i)
	}
	if !way(flags, []string{"KEEPS_FILES=" + dir}, tokens) {
		return
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is valid
	written := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			a.t.Error(err)
		}
		for line := range strings.Lines(string(text)) {
			written[strings.TrimSuffix(line, "\n")]++
		}
	}
	want := map[string]int{}
	for _, token := range tokens {
		want[token] = 1
	}
	if !maps.Equal(written, want) {
		a.t.Errorf("%q: of %d accepted tokens the files have %v", flags, len(tokens), written)
	}
	a.count("kept files")
}

const keepsFiles = "testdata/plugins/keeps_files.py"

// keepsFilesHooks lists the hooks of the plugin keepsFiles.
var keepsFilesHooks = []string{"at_import", "at_first_call"}

// putLines calls the hooks with run --lines. It reports whether all tokens were accepted.
func (a *attack) putLines(flags, env, tokens []string) bool {
	var input bytes.Buffer
	for _, token := range tokens {
		fmt.Fprintf(&input, `{"hook":%q,"args":[%q]}`+"\n", keepsFilesHooks[rand.IntN(2)], token)
	}
	cmd := a.command(append(append([]string{"run", "--lines"}, flags...), keepsFiles)...)
	cmd.Env = slices.Concat(cmd.Env, env)
	cmd.Stdin = &input
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Errorf("run --lines %q: %v: %s", flags, err, out)
	}
	return err == nil
}

// putCalls calls the hooks in the background, restarts the plugin once, and stops it. It
// reports whether all tokens were accepted.
func (a *attack) putCalls(flags, env, tokens []string) bool {
	pyplug := func(words ...string) bool {
		cmd := a.command(words...)
		cmd.Env = slices.Concat(cmd.Env, env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			a.t.Errorf("%q after start %q: %v: %s", words, flags, err, out)
		}
		return err == nil
	}
	ok := pyplug(slices.Concat([]string{"start", "--name", "files"}, flags, []string{keepsFiles})...)
	for i, token := range tokens {
		ok = ok && pyplug("call", "files", keepsFilesHooks[rand.IntN(2)], "="+token)
		if i == len(tokens)/2 {
			ok = ok && pyplug("restart", "files")
		}
	}
	return pyplug("stop", "files") && ok
}
