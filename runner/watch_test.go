package runner

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// drive is a directory in memory. main.py imports a.py, and also b.py if it has the text "new" when
// it is loaded.
type drive struct {
	mu     sync.Mutex
	stamps stamps
	loaded []string // files loaded by Python
	text   string   // the text of main.py
	clock  int64
	looks  int // how often main.py was examined
}

func newDrive() *drive {
	d := &drive{stamps: stamps{}}
	d.write("/p/main.py")
	d.write("/p/a.py")
	d.load()
	return d
}

// load simulates an import of main.py.
func (d *drive) load() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded = append(d.loaded, "/p/a.py")
	if d.text == "new" {
		d.loaded = append(d.loaded, "/p/b.py")
	}
}

// edit changes the text of main.py.
func (d *drive) edit(text string) {
	d.mu.Lock()
	d.text = text
	d.mu.Unlock()
	d.write("/p/main.py")
}

func (d *drive) write(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock++
	d.stamps[file] = fileStamp{modified: d.clock, size: 10}
}

func (d *drive) remove(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.stamps, file)
}

func (d *drive) files() *files {
	return &files{
		fixed: func() map[string]fileKind {
			return map[string]fileKind{"/p/main.py": ownFile, "/p/pyplug.toml": startFile, "/lib": packageDir}
		},
		list: func() []string {
			d.mu.Lock()
			defer d.mu.Unlock()
			return slices.Clone(d.loaded)
		},
		stat: func(file string) fileStamp {
			d.mu.Lock()
			defer d.mu.Unlock()
			if file == "/p/main.py" {
				d.looks++
			}
			return d.stamps[file]
		},
	}
}

// TestWatch checks which changes are reported. Each step happens some time after the previous one.
func TestWatch(t *testing.T) {
	const ms = time.Millisecond
	type step struct {
		after time.Duration
		do    func(d *drive)
	}
	write := func(file string) func(*drive) { return func(d *drive) { d.write(file) } }
	remove := func(file string) func(*drive) { return func(d *drive) { d.remove(file) } }
	tests := []struct {
		name  string
		steps []step
		want  string
	}{
		{"nothing", nil, ""},
		{"a file", []step{{0, write("/p/a.py")}}, "a.py"},
		{"two files at once", []step{{0, write("/p/main.py")}, {0, write("/p/a.py")}}, "a.py main.py"},
		{"two files, one a little later", []step{{450 * ms, write("/p/main.py")}, {100 * ms, write("/p/a.py")}}, "a.py main.py"},
		{"two files, one much later", []step{{0, write("/p/main.py")}, {2000 * ms, write("/p/a.py")}}, "main.py; a.py"},
		{"written in many steps", slices.Repeat([]step{{100 * ms, write("/p/a.py")}}, 20), "a.py"},
		{"a file of no interest", []step{{0, write("/p/notes.txt")}}, ""},
		{"the manifest", []step{{0, write("/p/pyplug.toml")}}, ""},
		{"what is installed", []step{{0, write("/lib")}}, ""},
		{"replaced by a rename", []step{{490 * ms, remove("/p/a.py")}, {50 * ms, write("/p/a.py")}}, "a.py"},
		{"removed for good", []step{{0, remove("/p/a.py")}}, "a.py"},
		{"removed, much later there again", []step{{0, remove("/p/main.py")}, {2000 * ms, write("/p/main.py")}}, "main.py; main.py"},
		{"imported newly", []step{{0, func(d *drive) { d.write("/p/b.py"); d.edit("new") }}, {2000 * ms, write("/p/b.py")}},
			"main.py; b.py"},
		{"imported, there only later", []step{{0, func(d *drive) { d.edit("new") }}, {2000 * ms, write("/p/b.py")}},
			"main.py; b.py"},
		{"written without end", slices.Repeat([]step{{100 * ms, write("/p/a.py")}}, 60), "a.py"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDrive()
				f := d.files()
				known, _ := f.look(ownFile, nil)
				ctx, cancel := context.WithCancel(t.Context())
				var reported []string
				go watch(ctx, f, known, func(_ context.Context, changed []string) {
					d.load()
					for i, file := range changed {
						changed[i] = path.Base(file)
					}
					reported = append(reported, strings.Join(changed, " "))
				})
				for _, s := range test.steps {
					time.Sleep(s.after)
					synctest.Wait()
					s.do(d)
				}
				time.Sleep(2 * time.Second)
				cancel()
				synctest.Wait()
				if got := strings.Join(reported, "; "); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}

// TestWatchPace checks that a change is reported within 550 ms, and that unchanged files are
// examined at most four times a second.
func TestWatchPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive()
		f := d.files()
		known, _ := f.look(ownFile, nil)
		d.looks = 0
		ctx, cancel := context.WithCancel(t.Context())
		reported := make(chan time.Time, 1)
		go watch(ctx, f, known, func(context.Context, []string) { reported <- time.Now() })
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		if d.looks != 40 {
			t.Errorf("%d looks in 10 s", d.looks)
		}
		changed := time.Now()
		d.write("/p/a.py")
		if took := (<-reported).Sub(changed); took < watchEvery || took > 2*watchEvery+50*time.Millisecond {
			t.Errorf("reported after %v", took)
		}
		cancel()
	})
}

// TestWatchRestarts checks that each change begins a restart, that a change during a restart
// cancels that restart, and that no restart runs after the end of the watch. A change before the
// start of the watch is reported, too.
func TestWatchRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive()
		f := d.files()
		known, _ := f.look(ownFile, nil)
		var mu sync.Mutex
		var log []string
		note := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, fmt.Sprintf(format, args...))
		}
		ctx, cancel := context.WithCancel(t.Context())
		restart := func(ctx context.Context, changed []string) {
			note("%s changed", path.Base(changed[0]))
			select {
			case <-time.After(2 * time.Second):
				note("restarted")
			case <-ctx.Done():
				note("canceled")
			}
		}
		ended := make(chan struct{})
		d.write("/p/a.py")
		go func() {
			defer close(ended)
			watch(ctx, f, known, restart)
		}()
		for _, step := range []struct {
			text string
			rest time.Duration
		}{{"good", 5}, {"bad", 5}, {"slow", 5}, {"good", 1}, {"last", 5}} {
			time.Sleep(step.rest * time.Second)
			d.edit(step.text)
		}
		time.Sleep(time.Second)
		cancel()
		<-ended
		want := []string{
			"a.py changed", "restarted",
			"main.py changed", "restarted",
			"main.py changed", "restarted",
			"main.py changed", "canceled",
			"main.py changed", "restarted",
			"main.py changed", "canceled",
		}
		if !slices.Equal(log, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(log, "\n"), strings.Join(want, "\n"))
		}
	})
}
