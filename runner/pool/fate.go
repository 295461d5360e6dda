package pool

import (
	"errors"

	"github.com/pyplug/pyplug/runner/hook"
)

// fate is what becomes of an instance after a call.
type fate uint8

const (
	kept      fate = iota // it gets further calls
	gone                  // it has ended, or is about to
	condemned             // it gets no further call and is replaced; its other calls go on
)

// verdict is what comes of a call. The zero verdict is that of a good one.
type verdict struct {
	fate     fate
	again    bool  // a call that was not sent is made again, in another instance
	doubt    bool  // what was sent may go on: it is asked how it is, if its transport has not
	answered bool  // the error is the plugin's answer, if it was sent
	err      error // of the call
}

// fates says what comes of an error that an instance's Call returned, by its
// kind. One that is kept and yet Done is found out when it is wanted next. What
// is lost, gone or condemned, differs by whether it is still there: then the
// slot is told to replace it.
var fates = map[hook.Kind]verdict{
	hook.Failed:      {fate: kept, answered: true},
	hook.Usage:       {fate: kept}, // not the instance's doing
	hook.Interpreter: {fate: kept}, // the same
	hook.Request:     {fate: kept},
	hook.Start:       {fate: gone},
	hook.Handshake:   {fate: gone},
	hook.Unhealthy:   {fate: condemned},
	hook.Crash:       {fate: gone, again: true},
	hook.Unavailable: {fate: condemned, again: true}, // it refuses calls: it ended or was condemned
	hook.Timeout:     {fate: kept, doubt: true},
	hook.Internal:    {fate: kept},
	hook.Canceled:    {fate: kept, doubt: true},
}

// unknown is the verdict on a call that did not return, since what it calls
// back panicked: it may go on for ever.
var unknown = verdict{fate: condemned, err: errors.New("the call did not return")}

// judge says what comes of a call that ended with err.
func judge(err error) verdict {
	if err == nil {
		return verdict{}
	}
	var e *hook.Error // after the check, since it costs an allocation
	if !errors.As(err, &e) {
		return verdict{err: err}
	}
	v := fates[e.Kind]
	v.again = v.again && !e.Begun
	v.doubt, v.answered = v.doubt && e.Begun, v.answered && e.Begun
	v.err = err
	return v
}
