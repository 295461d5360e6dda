//go:build linux

package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// smuggledToken is the argument of calls that are hidden as text in the words of another call. Such
// a call must never be made.
const smuggledToken = "smuggled"

// quiet attacks a target without other disturbances, only over HTTP. Its worker must not die, and
// no connection may break.
func (a *attack) quiet() {
	g := target{name: "quiet", flags: []string{"--threads", "--concurrency", "4"}, steady: true}
	a.start(g)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 4, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(a.run, g.name+".sock"))
	}}}
	a.t.Cleanup(client.CloseIdleConnections)
	for range 2 {
		a.repeat(func() { a.words(client) })
		a.repeat(func() { a.clientStream(client) })
	}
}

// words posts words of a fuzzer to a hook that does not exist. The daemon or the worker rejects
// them, and no hook is called.
func (a *attack) words(client *http.Client) {
	body := anyWords()
	if kind, result, err := a.post(client, "nosuch", "application/vnd.pyplug.words+json", bytes.NewReader(body)); kind != "request" {
		a.t.Errorf("words %q: kind %q, %s, %v, want request", body, kind, result, err)
	}
	a.count("words of a fuzzer")
}

// clientStream posts a client stream, which a functions file does not accept, and then makes a
// call, perhaps on the same connection.
func (a *attack) clientStream(client *http.Client) {
	from, to := io.Pipe()
	go func() { // ends when the daemon closes the connection, or earlier
		for range rand.IntN(20) {
			if _, err := io.WriteString(to, `{"a": 1}`+"\n"); err != nil {
				return
			}
			a.pause(rand.N(time.Millisecond))
		}
		_ = to.Close()
	}()
	kind, result, err := a.post(client, "echo", "application/x-ndjson", from)
	_ = from.Close()
	if err == nil && kind != "request" { // the daemon may close the connection while the client writes
		a.t.Errorf("a client stream: kind %q, %s, want request", kind, result)
	}
	a.count("client stream")
	h := attackHooks[0]
	_, token := a.next("quiet")
	body, _ := json.Marshal([]string{token}) // texts can always be encoded
	kind, result, err = a.post(client, h.name, "application/json", bytes.NewReader(body))
	if err != nil || kind != "" {
		a.t.Errorf("the call after a client stream: kind %q, %s, %v", kind, result, err)
	}
	a.got(h, token, kind, true, result, err)
}

// post calls a hook, and returns the kind of error or the result.
func (a *attack) post(client *http.Client, hook, mediaType string, body io.Reader) (kind, result string, err error) {
	resp, err := client.Post("http://pyplug/hooks/"+hook+"?timeout=20s", mediaType, body)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	kind, _, result = readAnswer(resp, text)
	return kind, result, err
}

// anyWords returns a body with words, which is usually invalid. Many words have the form json.
func anyWords() []byte {
	values := []string{
		`"a"`, `"a=1"`, `"n:={}"`, `""`, `"\ud800"`, `"json"`, `"text"`, `"YQ=="`, `null`, `1`, `[]`, `{"a":1}`, "\"\xff\"", `"[1"`,
		quoted(`1}],"hook":"echo","words":[{"text":"` + smuggledToken + `"}],"x":[{"value":1`),
		quoted(`:=1],"hook":"echo","args":["` + smuggledToken + `"],"x":[1`),
	}
	keys := []string{"typed", "text", "json", "base64", "name", "form", "form", "file", "wordz"}
	words := make([]string, rand.IntN(4))
	for i := range words {
		members := make([]string, rand.IntN(4))
		for j := range members {
			members[j] = quoted(keys[rand.IntN(len(keys))]) + ":" + values[rand.IntN(len(values))]
		}
		if rand.IntN(4) == 0 {
			members = []string{`"form":"json"`, `"text":` + values[rand.IntN(len(values))]}
		}
		words[i] = "{" + strings.Join(members, ",") + "}"
	}
	body := []byte(`{"words":[` + strings.Join(words, ",") + `]}`)
	if at := rand.IntN(2 * len(body)); at < len(body) {
		body[at] = `{}[]",:\0`[rand.IntN(9)]
	}
	return body
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }

// notSmuggled checks that no hook was called with smuggledToken.
func (a *attack) notSmuggled() {
	text, err := os.ReadFile(a.record)
	if err != nil || slices.Contains(strings.Fields(string(text)), smuggledToken) {
		a.t.Errorf("a part of a word was called, or %v", err)
	}
}
