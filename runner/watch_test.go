package runner

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// drive is a directory in memory whose files a watcher sees.
type drive struct {
	mu      sync.Mutex
	stamps  fileStamps
	imports map[string][]string // what main.py imports, by its text
	text    string              // of main.py
	clock   int64
	looks   int // at main.py
}

func newDrive() *drive {
	d := &drive{stamps: fileStamps{}, imports: map[string][]string{}}
	d.write("/p/main.py")
	d.write("/p/a.py")
	d.imports["new"] = []string{"/p/a.py", "/p/b.py"}
	d.imports[""] = []string{"/p/a.py"}
	return d
}

// edit gives main.py another text.
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
	if _, known := d.stamps[file]; !known {
		d.stamps["/p"] = fileStamp{modified: d.clock}
	}
	d.stamps[file] = fileStamp{modified: d.clock, size: 10}
}

func (d *drive) remove(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock++
	d.stamps["/p"] = fileStamp{modified: d.clock}
	delete(d.stamps, file)
}

// files are main.py and what it imports that is there.
func (d *drive) files() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := []string{"/p/main.py"}
	for _, file := range d.imports[d.text] {
		if _, there := d.stamps[file]; there {
			found = append(found, file)
		}
	}
	return found
}

func (d *drive) stat(file string) fileStamp {
	d.mu.Lock()
	defer d.mu.Unlock()
	if file == "/p/main.py" {
		d.looks++
	}
	return d.stamps[file]
}

// TestWatch holds what is told of changes, each some time after the one before.
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
		{"replaced by a rename", []step{{490 * ms, remove("/p/a.py")}, {50 * ms, write("/p/a.py")}}, "a.py"},
		{"removed for good", []step{{0, remove("/p/a.py")}}, "a.py"},
		{"removed, much later there again", []step{{0, remove("/p/main.py")}, {2000 * ms, write("/p/main.py")}}, "main.py; main.py"},
		{"imported newly", []step{{0, func(d *drive) { d.write("/p/b.py"); d.edit("new") }}, {2000 * ms, write("/p/b.py")}},
			"b.py main.py; b.py"},
		{"imported, there only later", []step{{0, func(d *drive) { d.edit("new") }}, {2000 * ms, write("/p/b.py")}},
			"main.py; b.py"},
		{"no longer imported", []step{{0, func(d *drive) { d.edit("other") }}, {2000 * ms, write("/p/a.py")}}, "main.py"},
		{"written without end", slices.Repeat([]step{{100 * ms, write("/p/a.py")}}, 60), "a.py; a.py"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDrive()
				ctx, cancel := context.WithCancel(t.Context())
				var told []string
				go watcher{files: d.files, stat: d.stat}.run(ctx, func(files []string) {
					for i, file := range files {
						files[i] = path.Base(file)
					}
					told = append(told, strings.Join(files, " "))
				})
				for _, s := range test.steps {
					time.Sleep(s.after)
					synctest.Wait()
					s.do(d)
				}
				time.Sleep(2 * time.Second)
				cancel()
				synctest.Wait()
				if got := strings.Join(told, "; "); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}

// TestWatchPace holds that a change is told within 700 ms, and nobody looks more
// often than twice a second while there is none.
func TestWatchPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive()
		ctx, cancel := context.WithCancel(t.Context())
		told := make(chan time.Time, 1)
		go watcher{files: d.files, stat: d.stat}.run(ctx, func([]string) { told <- time.Now() })
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		if d.looks != 21 {
			t.Errorf("%d looks in 10 s", d.looks)
		}
		changed := time.Now()
		d.write("/p/a.py")
		if took := (<-told).Sub(changed); took < watchSettle || took > watchEvery+watchSettle+50*time.Millisecond {
			t.Errorf("told after %v", took)
		}
		cancel()
	})
}

// TestWatchFromStart holds that what changed between the start and the first look is
// told.
func TestWatchFromStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive() // main.py is of the time 1, a.py of 2
		ctx, cancel := context.WithCancel(t.Context())
		told := make(chan []string)
		w := watcher{files: d.files, stat: d.stat, since: time.Unix(0, 1)}
		go w.run(ctx, func(files []string) { told <- files })
		if files := <-told; !slices.Equal(files, []string{"/p/a.py"}) {
			t.Errorf("got %v", files)
		}
		select {
		case files := <-told:
			t.Errorf("told again: %v", files)
		case <-time.After(10 * time.Second):
		}
		cancel()
	})
}

// TestRestarts holds that each change makes a restart, that one that comes meanwhile
// ends the restart under way, which is then not told, and that nothing is told once
// the watching has ended.
func TestRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		changes := make(chan string)
		var mu sync.Mutex
		var log []string
		began := time.Now()
		note := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, fmt.Sprintf("%d ", time.Since(began).Milliseconds())+fmt.Sprintf(format, args...))
		}
		r := restarts{
			watch: func(ctx context.Context, changed func([]string)) {
				for {
					select {
					case file := <-changes:
						changed([]string{"/p/" + file})
					case <-ctx.Done():
						return
					}
				}
			},
			restart: func(ctx context.Context, reason string) error {
				note("%s", reason)
				select {
				case <-time.After(100 * time.Millisecond):
				case <-ctx.Done():
					return ctx.Err()
				}
				if strings.HasPrefix(reason, "bad.py") {
					return broken
				}
				return nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.run(ctx, func(files []string, err error) { note("%s: %v", path.Base(files[0]), err) })
		}()
		for _, step := range []struct {
			file string
			rest time.Duration
		}{{"good.py", 200}, {"bad.py", 200}, {"slow.py", 50}, {"good.py", 200}, {"last.py", 50}} {
			changes <- step.file
			time.Sleep(step.rest * time.Millisecond)
		}
		cancel()
		<-ended
		want := []string{
			"0 good.py changed", "100 good.py: <nil>",
			"200 bad.py changed", "300 bad.py: broken",
			"400 slow.py changed",
			"450 good.py changed", "550 good.py: <nil>",
			"650 last.py changed",
		}
		if !slices.Equal(log, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(log, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestChangeOf(t *testing.T) {
	for want, files := range map[string][]string{
		"a.py changed":                        {"/p/a.py"},
		"a.py, b.py, c.py changed":            {"/p/a.py", "/p/b.py", "/p/q/c.py"},
		"a.py, b.py, c.py and others changed": {"/p/a.py", "/p/b.py", "/p/c.py", "/p/d.py"},
	} {
		if got := changeOf(files); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
