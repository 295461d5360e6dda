//go:build linux

package commands_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// tcpToken is the token for the target.
	tcpToken = "the-token"
	// cutAfter is longer than the server waits for a client that sends slowly or does not read.
	cutAfter = 50 * time.Second
	// dialLimit is how long a client waits for a connection to a flooded address.
	dialLimit = 10 * time.Second
)

// tcpTarget is a plugin that serve makes available over TCP.
type tcpTarget struct {
	target
	address  string
	client   *http.Client // connects before the attack floods the address
	stranger *http.Client // needs new connections, because the server closes them
}

// overTCP attacks a plugin of serve --listen. Its worker is killed as in other targets, but no
// connection of a well-behaved client may break.
func (a *attack) overTCP() {
	tokens := filepath.Join(a.dir, "tokens")
	if err := os.WriteFile(tokens, []byte(tcpToken+"\n"), 0o600); err != nil {
		a.t.Fatal(err)
	}
	g := &tcpTarget{
		target: target{name: "tcp", steady: true}, client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 4}},
		stranger: &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: dialLimit}).DialContext}},
	}
	cmd := a.command("serve", "--name", g.name, "--cwd", a.dir, "--listen", "127.0.0.1:0", "--token-file", tokens, "--drain", "0", "--workers", "2", "--max-connections", "300", a.file(g.target))
	g.address = strings.TrimPrefix(readyLine(a.t, cmd), "http://")
	a.kept.Go(func() { _ = cmd.Wait() }) // it was stopped
	a.t.Cleanup(g.client.CloseIdleConnections)
	a.t.Cleanup(g.stranger.CloseIdleConnections)
	a.repeat(func() { a.disturb(g.target) })
	for range 3 {
		a.repeat(func() { a.requestTCP(g) })
	}
	a.repeat(func() { a.stranger(g) })
	a.repeat(func() { a.smuggle(g) })
	a.repeat(func() { a.flood(g) })
	a.repeat(func() { a.slow(g, "POST /hooks/echo HTTP/1.1\r\nHost: ") })
	a.repeat(func() { a.slow(g, tcpHeader("Content-Length: 100000")+"\r\n[") })
	a.repeat(func() { a.frozen(g) })
}

// tcpHeader returns the header of a call of echo, without the empty line that ends it.
func tcpHeader(lines ...string) string {
	all := append([]string{"POST /hooks/echo HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Authorization: Bearer " + tcpToken}, lines...)
	return strings.Join(all, "\r\n") + "\r\n"
}

// requestTCP calls a hook like a well-behaved client, by its path or as a tool.
func (a *attack) requestTCP(g *tcpTarget) {
	h, token := a.next(g.name)
	limit := 3 * time.Second
	if h.kind == "timeout" {
		limit = 300 * time.Millisecond
	}
	body, _ := json.Marshal([]string{token}) // texts can always be encoded
	r, err := http.NewRequestWithContext(a.ctx, http.MethodPost, "http://"+g.address+"/hooks/"+h.name+"?timeout="+url.QueryEscape(limit.String()), bytes.NewReader(body))
	if err != nil {
		a.t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+tcpToken)
	began := time.Now()
	answer, err := g.client.Do(r)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(answer.Body)
		answer.Body.Close()
	}
	if took := time.Since(began); err != nil || took > 25*time.Second {
		a.t.Errorf("%s of %s over TCP after %v: %v", h.name, token, took, err)
		a.lost(token)
		return
	}
	kind, begun, result := readAnswer(answer, text)
	a.over(time.Since(began) - limit)
	a.got(h, token, kind, begun, result, string(text[:min(len(text), 2000)]))
}

// stranger calls with a wrong token, or from a page of another host. No hook may be called.
func (a *attack) stranger(g *tcpTarget) {
	_, token := a.next(g.name)
	body, _ := json.Marshal([]string{token}) // texts can always be encoded
	r, err := http.NewRequestWithContext(a.ctx, http.MethodPost, "http://"+g.address+"/hooks/echo", bytes.NewReader(body))
	if err != nil {
		a.t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	want := http.StatusUnauthorized
	switch rand.IntN(5) {
	case 0: // no token
	case 1:
		r.Header.Set("Authorization", "Bearer "+tcpToken[:rand.IntN(len(tcpToken))])
	case 2:
		r.Header.Set("Authorization", "Basic "+tcpToken)
	case 3:
		r.Header["Authorization"] = []string{"Bearer wrong", "Bearer " + tcpToken} // only the first counts
	case 4:
		r.Header.Set("Authorization", "Bearer "+tcpToken)
		r.Header.Set("Origin", []string{"null", "https://evil.example", "http://127.0.0.1.evil.example", "file://"}[rand.IntN(4)])
		want = http.StatusForbidden
	}
	answer, err := g.stranger.Do(r)
	if err != nil {
		return // the address is flooded
	}
	text, _ := io.ReadAll(answer.Body) // only the status matters
	answer.Body.Close()
	if answer.StatusCode != want {
		a.t.Errorf("a stranger with %q, %q: status %d, %s", r.Header["Authorization"], r.Header["Origin"], answer.StatusCode, text)
	}
	a.count("strangers")
	a.got(attackHook{name: "echo", kind: "request"}, token, "request", false, "", nil)
}

// smuggle sends a request that a proxy could split differently, with a call in its body. That call
// must not be made.
func (a *attack) smuggle(g *tcpTarget) {
	hidden := tcpHeader(fmt.Sprint("Content-Length: ", len(smuggledToken)+4)) + "\r\n[\"" + smuggledToken + "\"]"
	length := fmt.Sprint("Content-Length: ", len(hidden))
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden)
	request := []string{
		tcpHeader(length, "Content-Length: 0") + "\r\n" + hidden,
		tcpHeader("Content-Length: 0, "+fmt.Sprint(len(hidden))) + "\r\n" + hidden,
		tcpHeader("Content-Length: +0") + "\r\n" + hidden,
		tcpHeader(length, "Transfer-Encoding : chunked") + "\r\n0\r\n\r\n" + hidden,
		tcpHeader(length, "Transfer-Encoding: xchunked") + "\r\n0\r\n\r\n" + hidden,
		tcpHeader(length, "Transfer-Encoding: chunked", "Transfer-Encoding: identity") + "\r\n0\r\n\r\n" + hidden,
		tcpHeader("Content-Length: 0", "Transfer-Encoding: chunked") + "\r\n" + chunk,
		tcpHeader("Transfer-Encoding: chunked") + "\r\n1;x=\n" + hidden + "\r\n0\r\n\r\n",
		tcpHeader(length, "X: 1\r\n Content-Length: 0") + "\r\n" + hidden,
		tcpHeader(length)[:20] + "\x00" + tcpHeader(length)[20:] + "\r\n" + hidden,
	}[rand.IntN(10)]
	c, err := net.DialTimeout("tcp", g.address, dialLimit)
	if err != nil {
		return // the address is flooded
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(cutAfter))
	_, err = io.WriteString(c, request)
	if err == nil {
		err = c.(*net.TCPConn).CloseWrite()
	}
	answers, readErr := io.ReadAll(c) // ends with the last answer
	if errors.Is(readErr, os.ErrDeadlineExceeded) || strings.Contains(string(answers), " 200 ") {
		a.t.Errorf("smuggling by %q: %s, %v, %v", request, answers, err, readErr)
	}
	a.count("smuggled requests")
}

// flood opens many connections that send nothing, if this process may open that many files.
func (a *attack) flood(g *tcpTarget) {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil {
		a.t.Error(err)
	}
	var all []net.Conn
	for range min(5000, most.Cur/4) {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(a.ended, "tcp", g.address)
		if err != nil {
			break // the system allows no more
		}
		all = append(all, c)
	}
	for _, c := range all {
		_ = c.Close()
	}
	a.count("floods")
	a.pause(rand.N(10 * time.Second))
}

// slow sends the beginning of a request, and then one byte per second. The server closes the
// connection.
func (a *attack) slow(g *tcpTarget, begin string) {
	a.cut(g, "slow", func(c net.Conn, ended <-chan struct{}) {
		_, _ = io.WriteString(c, begin) // ignore the error: the next write returns it again
		trickle(c, ended)
	}, true)
}

// frozen requests large answers and does not read them.
func (a *attack) frozen(g *tcpTarget) {
	a.cut(g, "frozen", func(c net.Conn, ended <-chan struct{}) {
		_ = c.(*net.TCPConn).SetReadBuffer(4096) // small, so that few answers fit
		for range 100 {
			_, token := a.next(g.name)
			a.lost(token) // the client does not read the answer
			header := strings.Replace(tcpHeader(fmt.Sprint("Content-Length: ", len(token)+4)), "echo", "large?timeout=1s", 1)
			_, _ = io.WriteString(c, header+"\r\n[\""+token+"\"]") // ignore the error: the next write returns it again
		}
		trickle(c, ended)
	}, false)
}

// trickle sends one byte per second until the server closes the connection.
func trickle(c net.Conn, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Second):
			if _, err := io.WriteString(c, "1"); err != nil {
				return
			}
		}
	}
}

// cut talks to the server until the server closes the connection, which must happen within
// cutAfter. reads says whether the client reads.
func (a *attack) cut(g *tcpTarget, what string, talk func(net.Conn, <-chan struct{}), reads bool) {
	c, err := net.DialTimeout("tcp", g.address, dialLimit)
	if err != nil {
		return // the address is flooded
	}
	began, ended, talked := time.Now(), make(chan struct{}), make(chan struct{})
	_ = c.SetWriteDeadline(began.Add(cutAfter + time.Second))
	go func() {
		defer close(talked)
		talk(c, ended)
		if reads {
			<-ended
		}
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		if reads {
			_, _ = io.Copy(io.Discard, c) // until the server or this test closes it
		} else {
			<-talked
		}
	}()
	select {
	case <-read:
		a.count(what)
		if took := time.Since(began); took > cutAfter {
			a.t.Errorf("a %s client was served for %v", what, took)
		}
	case <-a.ended.Done():
	}
	close(ended)
	_ = c.Close()
	<-read
	<-talked
}
