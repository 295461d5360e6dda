//go:build linux

package commands_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// attackHook is a hook of attack.py. kind is the kind of its error, or "" if it succeeds. weight is
// its share of the calls.
type attackHook struct {
	name, kind string
	weight     int
}

var attackHooks = []attackHook{
	{"echo", "", 40}, {"later", "", 10}, {"large", "", 3}, {"stream", "", 10}, {"raises", "hook", 10},
	{"hangs", "timeout", 1}, {"spins", "timeout", 1}, {"exits", "crash", 1}, {"kills", "crash", 1},
	{"forks", "", 3}, {"closes", "", 1}, {"holds", "", 2}, {"stays", "", 1}, {"ends", "", 2},
}

// disturbed lists the kinds of errors that a disturbance may cause.
var disturbed = []string{"crash", "unavailable", "timeout", "start", "canceled"}

// exitKinds maps the exit codes of a call to kinds.
var exitKinds = map[int]string{0: "", 1: "hook", 5: "start", 6: "handshake", 8: "crash", 9: "unavailable", 124: "timeout", 130: "canceled"}

// next chooses a hook, and returns a new token for its call.
func (a *attack) next(from string) (attackHook, string) {
	n := rand.IntN(86)
	i := slices.IndexFunc(attackHooks, func(h attackHook) bool { n -= h.weight; return n < 0 })
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token++
	return attackHooks[max(i, 0)], fmt.Sprintf("%s-%d", from, a.token)
}

// got checks the end of a call: its kind of error, or its result.
func (a *attack) got(h attackHook, token, kind string, begun bool, result string, detail any) {
	a.mu.Lock()
	a.answers[token] = answer{ok: kind == "", begun: kind == "" || begun}
	a.counts[h.name+" "+kind]++
	a.mu.Unlock()
	want := token
	switch h.name {
	case "large":
		want = strings.Repeat(token, 20000)
	case "stream":
		want = fmt.Sprintf("%[1]s 0,%[1]s 1,%[1]s 2", token)
	}
	switch {
	case kind == "" && h.kind == "" && result == want:
	case kind != "" && (kind == h.kind || slices.Contains(disturbed, kind)):
	default:
		a.t.Errorf("%s of %s: kind %q, want %q: %.200s %.2000v", h.name, token, kind, h.kind, result, detail)
	}
}

// request calls a hook of a target over HTTP.
func (a *attack) request(g target) {
	h, token := a.next(g.name)
	body, _ := json.Marshal([]string{token}) // texts can always be encoded
	path := "/hooks/" + h.name
	if g.plugin != "" {
		h = attackHook{name: "Put"}
		path = "/hooks/KV%2FPut"
		body, _ = json.Marshal(map[string]string{"key": token, "value": base64.StdEncoding.EncodeToString([]byte(token))})
	}
	limit := 3 * time.Second
	if h.kind == "timeout" {
		limit = 300 * time.Millisecond
	}
	socket := filepath.Join(a.run, g.name+".sock")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	began := time.Now()
	ctx, cancel := context.WithTimeout(a.ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://pyplug"+path+"?timeout="+url.QueryEscape(limit.String()), bytes.NewReader(body))
	if err != nil {
		a.t.Error(err)
		return
	}
	resp, err := client.Do(req)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err != nil || time.Since(began) > 25*time.Second {
		if g.steady || ctx.Err() != nil {
			a.t.Errorf("%s of %s after %v: %v", h.name, token, time.Since(began), err)
		}
		a.lost(token)
		a.pause(10 * time.Millisecond) // until its daemon has been restarted
		return
	}
	kind, begun, result := readAnswer(resp, text)
	if g.plugin != "" && kind == "" && result == "{}" {
		result = token
	}
	a.over(time.Since(began) - limit)
	a.got(h, token, kind, begun, result, string(text[:min(len(text), 2000)]))
}

// over records by how much a call exceeded its limit.
func (a *attack) over(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = max(a.latest, d)
}

// lost records a call whose answer was lost with its daemon.
func (a *attack) lost(token string) {
	a.count("lost connection")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[token] = answer{begun: true}
}

// failure is the JSON of an error.
type failure struct {
	Kind string
	Sent bool
}

// readAnswer returns the kind of error of an HTTP answer, or its result. Items are joined by
// commas.
func readAnswer(resp *http.Response, body []byte) (kind string, begun bool, result string) {
	var e struct{ Error failure }
	if resp.StatusCode != http.StatusOK {
		if err := json.Unmarshal(body, &e); err != nil || e.Error.Kind == "" {
			return "none", false, ""
		}
		return e.Error.Kind, e.Error.Sent, ""
	}
	if resp.Header.Get("Content-Type") != "application/x-ndjson" {
		if json.Unmarshal(body, &result) != nil {
			return "", true, string(bytes.TrimSpace(body))
		}
		return "", true, result
	}
	var items []string
	for line := range bytes.Lines(body) {
		var item struct {
			Item  string
			Done  bool
			Error *failure
		}
		switch err := json.Unmarshal(line, &item); {
		case err != nil:
			return "none", true, ""
		case item.Error != nil:
			return item.Error.Kind, item.Error.Sent, ""
		case item.Done:
			return "", true, strings.Join(items, ",")
		}
		items = append(items, item.Item)
	}
	return "crash", true, "" // the death of the daemon interrupted it
}

// call calls a hook of a target with pyplug call.
func (a *attack) call(g target) {
	h, token := a.next(g.name)
	words := []string{"call", g.name, h.name, "=" + token}
	if g.plugin != "" {
		h = attackHook{name: "Put"}
		words = []string{"call", g.name, "Put", "key==" + token, "value==" + token}
	} else if h.kind == "timeout" || rand.IntN(2) == 0 {
		words = append([]string{"call", "--timeout", "1s"}, words[1:]...)
	}
	out, errs, code := a.pyplug(words...)
	kind, result := readOutput(out, code)
	if g.plugin != "" && result == "{}" {
		result = token
	}
	a.got(h, token, kind, true, result, errs)
}

// readOutput returns the kind of error of a pyplug that has ended, and its result. Items are joined
// by commas.
func readOutput(out string, code int) (kind, result string) {
	kind, known := exitKinds[code]
	if !known {
		kind = fmt.Sprint("exit code ", code)
	}
	return kind, strings.NewReplacer("\n", ",", `"`, "").Replace(strings.TrimSpace(out))
}

// once calls a hook with a plain run.
func (a *attack) once() {
	h, token := a.next("once")
	out, errs, code := a.pyplug("run", "--timeout", "1s", a.file(target{name: "once"}), h.name, "="+token)
	kind, result := readOutput(out, code)
	a.got(h, token, kind, true, result, errs)
}

// lines answers lines with run --lines, whose answers must be in order.
func (a *attack) lines(flags ...string) {
	type call struct {
		ID   string   `json:"id"`
		Hook string   `json:"hook"`
		Args []string `json:"args"`
	}
	var calls []call
	var hooks []attackHook
	var input bytes.Buffer
	for range 40 {
		h, token := a.next("lines")
		calls, hooks = append(calls, call{token, h.name, []string{token}}), append(hooks, h)
		_ = json.NewEncoder(&input).Encode(calls[len(calls)-1]) // writing to memory
	}
	cmd := a.command(append(append([]string{"run", "--lines", "--timeout", "1s"}, flags...), a.file(target{name: "lines"}))...)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = &input, &errs
	out, err := cmd.Output()
	if code := shellCode(cmd.ProcessState); code > 1 {
		a.t.Errorf("run --lines %q: exit code %d, %v: %s", flags, code, err, &errs)
	}
	answers := json.NewDecoder(bytes.NewReader(out))
	items := map[string][]string{}
	for answered := 0; answered < len(calls); {
		var one struct {
			ID     string
			Result *string
			Item   *string
			Done   bool
			Error  *failure
		}
		if err := answers.Decode(&one); err != nil {
			a.t.Errorf("run --lines %q: %d of %d lines were answered: %v, %s", flags, answered, len(calls), err, &errs)
			return
		}
		n := slices.IndexFunc(calls, func(c call) bool { return c.ID == one.ID })
		if n != answered {
			a.t.Errorf("run --lines %q: answer %d has the id %q", flags, answered, one.ID)
			return
		}
		switch {
		case one.Item != nil:
			items[one.ID] = append(items[one.ID], *one.Item)
			continue
		case one.Error != nil:
			a.got(hooks[n], one.ID, one.Error.Kind, one.Error.Sent, "", &errs)
		case one.Done:
			a.got(hooks[n], one.ID, "", true, strings.Join(items[one.ID], ","), &errs)
		case one.Result != nil:
			a.got(hooks[n], one.ID, "", true, *one.Result, &errs)
		default:
			a.t.Errorf("run --lines %q: the answer to %s is none", flags, one.ID)
		}
		answered++
	}
}
