package supervise

// steps holds, for each state and what else matters there, what each event
// does: the new state, and the actions, with events in brackets.
var steps = []struct {
	after string // the events before, by name
	rules Rules
	asks  bool
	want  string
}{
	{"wanted", Rules{Policy: Always}, false, `
		begin = starting: (1 >starting) launch 1
		replace = :
		stop = stopped: answer! replaced! (0 >stopped)
	`},
	{"begin", Rules{Policy: Always}, false, `
		bad = backoff: (1 starting>backoff) wait 1s answer! replaced!
		fixed = failed: (1 starting>failed) answer! replaced!
		replace = starting: cancel 1
		stop = stopping: answer! replaced! (1 starting>stopping) cancel 1
		up = ready: (1 starting>ready) watch 1 answer replaced
	`},
	{"begin", Rules{}, false, `
		bad = failed: (1 starting>failed) answer! replaced!
		fixed = failed: (1 starting>failed) answer! replaced!
		replace = starting: cancel 1
		stop = stopping: answer! replaced! (1 starting>stopping) cancel 1
		up = ready: (1 starting>ready) watch 1 answer replaced
	`},
	{"begin, replace", Rules{Policy: Always}, false, `
		bad = starting: (2 starting>starting) launch 2
		fixed = starting: (2 starting>starting) launch 2
		replace = starting: cancel 1
		stop = stopping: answer! replaced! (1 starting>stopping) cancel 1
		up = ready: (1 starting>ready) watch 1 answer (2 >starting) launch 2
	`},
	{"begin, up", Rules{Policy: OnFailure}, false, `
		called = starting: (2 ready>starting) launch 2
		clean = stopped: (1 ready>stopped) answer! replaced!
		died = backoff: (1 ready>backoff) wait 1s replaced!
		due = ready: probe 1
		due busy = ready: watch 1
		late = backoff: (1 ready>backoff) wait 1s replaced!
		replace = ready: (2 >starting) launch 2
		stop = stopping: answer! replaced! (1 ready>stopping) stop 1
	`},
	{"begin, up", Rules{Policy: Always, OneAtATime: true}, false, `
		called = starting: (2 ready>starting) launch 2
		clean = backoff: (1 ready>backoff) wait 1s replaced!
		died = backoff: (1 ready>backoff) wait 1s replaced!
		due = ready: probe 1
		due busy = ready: watch 1
		late = backoff: (1 ready>backoff) wait 1s replaced!
		replace = stopping: (1 ready>stopping) retire 1
		stop = stopping: answer! replaced! (1 ready>stopping) stop 1
	`},
	{"begin, up", Rules{}, false, `
		called = failed: (1 ready>failed) answer! replaced!
		clean = stopped: (1 ready>stopped) answer! replaced!
		died = failed: (1 ready>failed) answer! replaced!
		due = ready: probe 1
		due busy = ready: watch 1
		late = failed: (1 ready>failed) answer! replaced!
		replace = ready: (2 >starting) launch 2
		stop = stopping: answer! replaced! (1 ready>stopping) stop 1
	`},
	{"begin, up, due, missed, due, missed, due", Rules{Policy: Always}, false, `
		busy = ready: watch 1
		called = starting: (2 ready>starting) launch 2
		clean = backoff: (1 ready>backoff) wait 1s replaced!
		died = backoff: (1 ready>backoff) wait 1s replaced!
		healthy = ready: watch 1
		late = backoff: (1 ready>backoff) wait 1s replaced!
		missed = stopping: condemn 1 (1 ready>stopping)
		replace = ready: (2 >starting) launch 2
		stop = stopping: answer! replaced! (1 ready>stopping) stop 1
		unhealthy = degraded: (1 ready>degraded) watch 1
	`},
	{"begin, up, due, unhealthy, due", Rules{Policy: Always}, false, `
		busy = degraded: watch 1
		called = starting: (2 degraded>starting) launch 2
		clean = backoff: (1 degraded>backoff) wait 1s replaced!
		died = backoff: (1 degraded>backoff) wait 1s replaced!
		healthy = ready: (1 degraded>ready) watch 1
		late = backoff: (1 degraded>backoff) wait 1s replaced!
		missed = degraded: watch 1
		replace = degraded: (2 >starting) launch 2
		stop = stopping: answer! replaced! (1 degraded>stopping) stop 1
		unhealthy = degraded: watch 1
	`},
	{"begin, bad", Rules{Policy: Always, MaxFailures: 2}, false, `
		changed = starting: rest (2 backoff>starting) launch 2
		delay = starting: rest (2 backoff>starting) launch 2
		reload = starting: rest (2 backoff>starting) launch 2
		replace = starting: rest (2 backoff>starting) launch 2
		same = backoff: answer!
		stop = stopped: answer! replaced! rest (1 backoff>stopped)
		wanted = backoff: answer!
	`},
	{"begin, bad", Rules{Policy: Always}, true, `
		changed = starting: rest (2 backoff>starting) launch 2
		delay = starting: rest (2 backoff>starting) launch 2
		reload = starting: rest (2 backoff>starting) launch 2
		replace = starting: rest (2 backoff>starting) launch 2
		same = backoff: answer!
		stop = stopped: answer! replaced! rest (1 backoff>stopped)
		wanted = backoff: ask
	`},
	{"begin, bad, wanted, delay", Rules{Policy: Always}, true, `
		bad = backoff: (2 starting>backoff) wait 2s answer! replaced!
		changed = starting:
		fixed = failed: (2 starting>failed) answer! replaced!
		replace = starting: cancel 2
		same = starting:
		stop = stopping: answer! replaced! (2 starting>stopping) cancel 2
		up = ready: (2 starting>ready) watch 2 answer replaced
	`},
	{"begin, bad", Rules{Policy: Always, Patient: true}, true, `
		delay = starting: rest (2 backoff>starting) launch 2
		reload = starting: rest (2 backoff>starting) launch 2
		replace = starting: rest (2 backoff>starting) launch 2
		stop = stopped: answer! replaced! rest (1 backoff>stopped)
	`},
	{"begin, up, died", Rules{Policy: Always}, true, `
		delay = starting: rest (2 backoff>starting) launch 2
		reload = starting: rest (2 backoff>starting) launch 2
		replace = starting: rest (2 backoff>starting) launch 2
		stop = stopped: answer! replaced! rest (1 backoff>stopped)
	`},
	{"begin, bad, delay", Rules{Policy: Always, MaxFailures: 2}, false, `
		bad = failed: (2 starting>failed) answer! replaced!
		fixed = failed: (2 starting>failed) answer! replaced!
		replace = starting: cancel 2
		stop = stopping: answer! replaced! (2 starting>stopping) cancel 2
		up = ready: (2 starting>ready) watch 2 answer replaced
	`},
	{"begin, up, due, missed, due, missed, due, missed", Rules{Policy: Always}, false, `
		called = backoff: (1 stopping>backoff) wait 1s replaced!
		clean = backoff: (1 stopping>backoff) wait 1s replaced!
		died = backoff: (1 stopping>backoff) wait 1s replaced!
		late = backoff: (1 stopping>backoff) wait 1s replaced!
		replace = stopping:
		stop = stopping: answer! replaced! stop 1
	`},
	{"begin, up, replace", Rules{Policy: Always, OneAtATime: true}, false, `
		called = starting: (2 stopping>starting) launch 2
		clean = starting: (2 stopping>starting) launch 2
		died = starting: (2 stopping>starting) launch 2
		late = starting: (2 stopping>starting) launch 2
		stop = stopping: answer! replaced! stop 1
	`},
	{"begin, up, clean", Rules{Policy: OnFailure}, true, `
		reload = starting: (2 stopped>starting) launch 2
		replace = starting: (2 stopped>starting) launch 2
		stop = stopped: answer! replaced!
		wanted = stopped: answer!
	`},
	{"begin, fixed", Rules{Policy: Always}, false, `
		changed = starting: (2 failed>starting) launch 2
		reload = starting: (2 failed>starting) launch 2
		replace = starting: (2 failed>starting) launch 2
		same = failed: answer!
		stop = stopped: answer! replaced! (1 failed>stopped)
		wanted = failed: answer!
	`},
	{"begin, fixed", Rules{Policy: Always}, true, `
		changed = starting: (2 failed>starting) launch 2
		reload = starting: (2 failed>starting) launch 2
		replace = starting: (2 failed>starting) launch 2
		same = failed: answer!
		stop = stopped: answer! replaced! (1 failed>stopped)
		wanted = failed: ask
	`},
	{"begin, fixed, wanted", Rules{Policy: Always}, true, `
		changed = starting: (2 failed>starting) launch 2
		reload = starting: (2 failed>starting) launch 2
		replace = starting: (2 failed>starting) launch 2
		same = failed: answer!
		stop = stopped: answer! replaced! (1 failed>stopped)
	`},
	{"begin, bad", Rules{}, true, `
		changed = starting: (2 failed>starting) launch 2
		reload = starting: (2 failed>starting) launch 2
		replace = starting: (2 failed>starting) launch 2
		same = failed: answer!
		stop = stopped: answer! replaced! (1 failed>stopped)
		wanted = failed: answer!
	`},
	{"begin, up, replace", Rules{Policy: Always}, false, `
		called = starting: (1 ready>stopped)
		clean = starting: (1 ready>stopped)
		died = starting: (1 ready>stopped)
		due = ready: probe 1
		due busy = ready: watch 1
		late = starting: (1 ready>stopped)
		next alone = stopping: (2 starting>failed) (1 ready>stopping) retire 1
		next bad = ready: (2 starting>failed) replaced!
		next up = ready: (2 starting>ready) (1 ready>stopping) retire 1 watch 2 replaced
		replace = ready: cancel 2
		stop = stopping: answer! replaced! (1 ready>stopping) stop 1 cancel 2
	`},
	{"begin, up, due, missed, due, missed, due, replace", Rules{Policy: Always}, false, `
		busy = ready: watch 1
		called = starting: (1 ready>stopped)
		clean = starting: (1 ready>stopped)
		died = starting: (1 ready>stopped)
		healthy = ready: watch 1
		late = starting: (1 ready>stopped)
		missed = starting: condemn 1 (1 ready>stopping)
		next alone = stopping: (2 starting>failed) (1 ready>stopping) retire 1
		next bad = ready: (2 starting>failed) replaced!
		next up = ready: (2 starting>ready) (1 ready>stopping) retire 1 watch 2 replaced
		replace = ready: cancel 2
		stop = stopping: answer! replaced! (1 ready>stopping) stop 1 cancel 2
		unhealthy = degraded: (1 ready>degraded) watch 1
	`},
	{"begin, up, replace, next bad, died", Rules{Policy: Always}, false, `
		delay = starting: rest (3 backoff>starting) launch 3
		reload = starting: rest (3 backoff>starting) launch 3
		replace = starting: rest (3 backoff>starting) launch 3
		stop = stopped: answer! replaced! rest (1 backoff>stopped)
	`},
	{"begin, up, replace, replace", Rules{Policy: Always}, false, `
		called = starting: (1 ready>stopped)
		clean = starting: (1 ready>stopped)
		died = starting: (1 ready>stopped)
		due = ready: probe 1
		due busy = ready: watch 1
		late = starting: (1 ready>stopped)
		next alone = stopping: (2 starting>stopped) (1 ready>stopping) retire 1
		next bad = ready: (2 starting>stopped) (3 >starting) launch 3
		next up = ready: (2 starting>ready) (1 ready>stopping) retire 1 watch 2
		replace = ready: cancel 2
		stop = stopping: answer! replaced! (1 ready>stopping) stop 1 cancel 2
	`},
	{"begin, up, replace, next up", Rules{Policy: Always}, false, `
		called = starting: (3 ready>starting) launch 3
		clean = backoff: (2 ready>backoff) wait 1s replaced!
		died = backoff: (2 ready>backoff) wait 1s replaced!
		due = ready: probe 2
		due busy = ready: watch 2
		late = backoff: (2 ready>backoff) wait 1s replaced!
		old died = ready: (1 stopping>stopped)
		replace = ready:
		stop = stopping: answer! replaced! (2 ready>stopping) stop 2 stop 1
	`},
	{"begin, up, replace, next up, replace", Rules{Policy: Always}, false, `
		called = starting: (3 ready>starting) launch 3
		clean = starting: (3 ready>starting) launch 3
		died = starting: (3 ready>starting) launch 3
		due = ready: probe 2
		due busy = ready: watch 2
		late = starting: (3 ready>starting) launch 3
		old died = ready: (1 stopping>stopped) (3 >starting) launch 3
		stop = stopping: answer! replaced! (2 ready>stopping) stop 2 stop 1
	`},
	{"begin, up, stop", Rules{Policy: Always}, false, `
		called = stopped: (1 stopping>stopped)
		clean = stopped: (1 stopping>stopped)
		died = stopped: (1 stopping>stopped)
		late = stopped: (1 stopping>stopped)
		replace = stopping: replaced!
		wanted = stopping: answer!
	`},
	{"begin, stop", Rules{Policy: Always}, false, `
		bad = stopped: (1 stopping>stopped)
		fixed = stopped: (1 stopping>stopped)
		replace = stopping: replaced!
		up = stopping: stop 1
		wanted = stopping: answer!
	`},
	{"begin, stop, up", Rules{Policy: Always}, false, `
		called = stopped: (1 stopping>stopped)
		clean = stopped: (1 stopping>stopped)
		died = stopped: (1 stopping>stopped)
		late = stopped: (1 stopping>stopped)
		replace = stopping: replaced!
		wanted = stopping: answer!
	`},
	{"begin, up, replace, stop", Rules{Policy: Always}, false, `
		called = stopping:
		clean = stopping:
		died = stopping:
		late = stopping:
		next alone = stopping: (2 starting>stopped)
		next bad = stopping: (2 starting>stopped)
		next up = stopping: stop 2
		replace = stopping: replaced!
		wanted = stopping: answer!
	`},
	{"begin, up, replace, stop, next up", Rules{Policy: Always}, false, `
		called = stopping:
		clean = stopping:
		died = stopping:
		late = stopping:
		next died = stopping: (2 starting>stopped)
		replace = stopping: replaced!
		wanted = stopping: answer!
	`},
	{"begin, up, replace, next up, stop", Rules{Policy: Always}, false, `
		called = stopping:
		clean = stopping:
		died = stopping:
		late = stopping:
		old died = stopping: (1 stopping>stopped)
		replace = stopping: replaced!
		wanted = stopping: answer!
	`},
	{"begin, up, stop, died", Rules{Policy: Always}, true, `
		replace = stopped: replaced!
		wanted = stopped: answer!
	`},
}
