package supervise

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

var (
	t0     = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	errBad = startError("bad")
	// some is the event that is told to every state, by its name.
	some = map[string]event{
		"begin":      {what: begin},
		"wanted":     {what: wanted},
		"up":         {what: launched, pid: 7},
		"bad":        {what: launched, err: errBad},
		"fixed":      {what: launched, err: errBad, fixed: true},
		"died":       {what: died, exit: hook.Exit{Code: 1}},
		"called":     {what: died, exit: hook.Exit{Code: 1}, called: true},
		"clean":      {what: died},
		"late":       {what: died, exit: hook.Exit{Code: 1}, now: t0.Add(time.Hour)},
		"delay":      {what: delayOver},
		"due":        {what: probeDue},
		"due busy":   {what: probeDue, busy: true},
		"healthy":    {what: probed},
		"unhealthy":  {what: probed, err: &hook.Error{Kind: hook.Unhealthy}},
		"missed":     {what: probed, err: &hook.Error{Kind: hook.Timeout}},
		"busy":       {what: probed, err: &hook.Error{Kind: hook.Timeout}, busy: true},
		"changed":    {what: checked, changed: true},
		"same":       {what: checked},
		"reload":     {what: reload},
		"replace":    {what: replace, reason: "why"},
		"stop":       {what: stop},
		"next up":    {what: launched, pid: 8, gen: -1},
		"next bad":   {what: launched, err: errBad, gen: -1},
		"next alone": {what: launched, err: errBad, alone: true, gen: -1},
		"next died":  {what: died, gen: -1},
		"old died":   {what: died, gen: -2},
		"stray up":   {what: launched, gen: 99},
		"stray died": {what: died, gen: 99},
	}
)

// feed gives a machine events by their names. Those without generation are about
// the one in the slot; -1 is the replacement, -2 the replaced.
func feed(m machine, names ...string) (machine, []action) {
	var actions []action
	for _, name := range names {
		ev, known := some[name]
		if !known {
			panic(name)
		}
		switch ev.gen {
		case 0:
			ev.gen = m.cur.gen
		case -1:
			ev.gen = m.next.gen
		case -2:
			ev.gen = m.old.gen
		}
		if ev.now.IsZero() {
			ev.now = t0
		}
		m, actions = step(m, ev)
	}
	return m, actions
}

var opNames = map[op]string{doLaunch: "launch", doCancel: "cancel", doRetire: "retire", doStop: "stop", doCondemn: "condemn",
	doWait: "wait", doRest: "rest", doWatch: "watch", doProbe: "probe", doAsk: "ask", doAnswer: "answer", doReplaced: "replaced"}

// told is what became of a machine: "state: actions".
func told(m machine, actions []action) string {
	words := []string{m.state.String() + ":"}
	for _, a := range actions {
		switch word := opNames[a.op]; {
		case a.op == doTell:
			words = append(words, fmt.Sprintf("(%d %s>%s)", a.tell.Generation, a.tell.From, a.tell.To))
		case a.op == doWait:
			words = append(words, word+" "+a.delay.String())
		case a.gen != 0:
			words = append(words, fmt.Sprint(word, " ", a.gen))
		case a.err != nil:
			words = append(words, word+"!")
		default:
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// TestStep tells every event to every state. What is not in the table changes
// nothing and does nothing.
func TestStep(t *testing.T) {
	for _, test := range steps {
		m := machine{rules: test.rules.complete(), asks: test.asks}
		m, _ = feed(m, strings.Split(test.after, ", ")...)
		want := map[string]string{}
		for _, row := range strings.Split(strings.TrimSpace(test.want), "\n") {
			name, result, _ := strings.Cut(strings.TrimSpace(row), " = ")
			if _, known := some[name]; !known && name != "" {
				t.Fatalf("no event is called %q", name)
			}
			want[name] = result
		}
		for name := range some {
			after, actions := feed(m, name)
			got := told(after, actions)
			if want[name] == "" {
				if len(actions) > 0 || !reflect.DeepEqual(after, m) {
					t.Errorf("after %s: %s: got %s, want no change", test.after, name, got)
				}
			} else if got != want[name] {
				t.Errorf("after %s: %s: got %s, want %s", test.after, name, got, want[name])
			}
		}
	}
}
