package env

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// lockName is the file in an environment that a sync locks. temporaryName is the directory for the
// installer's temporary files.
const lockName, temporaryName = "pyplug-env.lock", "pyplug-tmp"

// Make makes the environment unless it exists, and installs the requirements of the source. It
// waits for another process that syncs the same environment. made reports whether there was no
// environment before. If the installer fails, Make removes a new environment. The next sync
// completes an older one that the installer changed, and one whose sync was interrupted. The error
// is a [*hook.Error].
func (p Plan) Make(ctx context.Context) (made bool, err error) {
	unlock, err := p.lock(ctx)
	if err == nil {
		defer unlock()
		if err = p.look(); err == nil { // another process may have made the environment meanwhile
			made, err = p.sync(ctx)
		}
	}
	switch known, ok := errors.AsType[*hook.Error](err); {
	case err == nil:
		return made, nil
	case ctx.Err() != nil:
		return made, hook.NewError(hook.Canceled, context.Cause(ctx))
	case ok:
		e := *known
		e.Err = err // err includes errors of the cleanup
		return made, &e
	}
	e := failed(err)
	e.Hints = schema.Hints("make one elsewhere: run `%s`, install the requirements of %s, and name it: %s ELSEWHERE",
		schema.QuoteLine([]string{p.request.Python, "-m", "venv", "ELSEWHERE"}), p.Source.Path, schema.Setting("python"))
	return made, e
}

// sync makes or completes the environment. The caller holds the lock.
func (p Plan) sync(ctx context.Context) (made bool, err error) {
	temporary := filepath.Join(p.Dir, temporaryName)
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	if err := errors.Join(os.RemoveAll(temporary), os.Mkdir(temporary, 0o777)); err != nil {
		return false, err
	}
	if p.foreign {
		return false, p.install(ctx, []Source{p.Source})
	}
	before, isNew := readMark(p.Dir), !bounded.Exists(markPath(p.Dir))
	sources, err := p.sources(before)
	if err != nil {
		return false, err
	}
	had := distributions(p.Dir)
	err = p.fill(ctx, before.State, sources)
	switch {
	case err == nil:
	case isNew:
		err = errors.Join(err, os.RemoveAll(p.Dir))
	case before.State == complete && slices.Equal(distributions(p.Dir), had): // nothing was changed
		err = errors.Join(err, before.write(p.Dir))
	}
	if e, ok := errors.AsType[*hook.Error](err); ok && e.Exit != nil && len(sources) > 1 {
		e.Hints = append(e.Hints, schema.Hintf("move a plugin that conflicts to a directory of its own: %s shares %s with %s",
			filepath.Base(p.Source.Path), p.Dir, shared(sources[1:])))
	}
	return !p.Exists && err == nil, err
}

// shared joins the names of sources.
func shared(sources []Source) string {
	var names []string
	for _, s := range sources {
		names = append(names, filepath.Base(s.Path))
	}
	return strings.Join(names, ", ")
}

// sources returns the current source of the plugin, and those of the other plugins that share the
// environment.
func (p Plan) sources(before mark) ([]Source, error) {
	sources, own := []Source{p.Source}, entryOf(p.Dir, p.Source)
	for _, e := range before.Sources {
		if e.Owner == own.Owner {
			continue
		}
		s, err := e.source(p.Dir)
		switch {
		case errors.Is(err, errNone):
			continue
		case err != nil:
			return nil, refused(nil, "%s shares the environment: %w", e.Owner, err)
		case s.needsUV && p.Installer != "uv":
			return nil, refused(schema.Hints("install uv"), "%s shares the environment and needs uv, which is not on PATH", e.Owner)
		case s.Kind == "pylock.toml", p.Source.Kind == "pylock.toml":
			return nil, failed(fmt.Errorf("%s and %s would share an environment, which a pylock.toml cannot", p.Source.Path, s.Path))
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// fill makes an environment unless there is one, and installs the requirements of sources. was is
// the state that the last sync left.
func (p Plan) fill(ctx context.Context, was state, sources []Source) error {
	now := mark{State: making}
	for _, s := range sources {
		now.Sources = append(now.Sources, entryOf(p.Dir, s))
	}
	if p.Exists {
		now.State = installing
	}
	if err := now.write(p.Dir); err != nil {
		return err
	}
	if was != complete {
		if err := removeHalf(p.Dir); err != nil {
			return err
		}
	}
	if now.State == making {
		if err := p.create(ctx); err != nil {
			return err
		}
		now.State = installing
		if err := now.write(p.Dir); err != nil {
			return err
		}
	}
	if err := p.install(ctx, sources); err != nil {
		return err
	}
	now.State = complete
	return now.write(p.Dir)
}

// create makes an environment without packages.
func (p Plan) create(ctx context.Context) error {
	if err := p.run(ctx, p.venv()); err != nil {
		return err
	}
	if _, err := os.Stat(p.Python); err != nil {
		return &hook.Error{Kind: hook.Interpreter, Err: fmt.Errorf("%s ended without an error, but made no Python: %w", p.Installer, err)}
	}
	ignore := filepath.Join(p.Dir, ".gitignore") // like uv and newer versions of venv
	if bounded.Exists(ignore) {
		return nil
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o666)
}

// removeHalf removes the metadata of distributions whose installation was interrupted, so that the
// installer does not consider them installed. uv and pip write the file INSTALLER after the other
// files.
func removeHalf(dir string) error {
	for _, info := range distributions(dir) {
		if bounded.Exists(filepath.Join(info, "INSTALLER")) {
			continue
		}
		if err := os.RemoveAll(info); err != nil {
			return err
		}
	}
	return nil
}

// distributions lists the metadata directories of the distributions in an environment. Their names
// contain the versions.
func distributions(dir string) (found []string) {
	for _, lib := range []string{"python*", "pypy*"} {
		in := filepath.Join("lib", lib, "site-packages")
		if runtime.GOOS == "windows" {
			in = filepath.Join("Lib", "site-packages")
		}
		all, _ := fs.Glob(os.DirFS(dir), filepath.ToSlash(filepath.Join(in, "*.dist-info"))) // the pattern is well formed
		for _, name := range all {
			found = append(found, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return found
}

// busy is the delay between two attempts to lock the environment.
const busy = 50 * time.Millisecond

// lock makes the environment's directory and locks it. It waits while another process holds the
// lock.
func (p Plan) lock(ctx context.Context) (unlock func(), err error) {
	path := filepath.Join(p.Dir, lockName)
	for waiting := false; ; waiting = true {
		if err := os.Mkdir(p.Dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		unlock, err := lockNow(path)
		if unlock != nil || err != nil && !errors.Is(err, fs.ErrNotExist) { // a failed sync may have removed the directory
			return unlock, err
		}
		if !waiting && p.request.Step != nil {
			p.request.Step("waiting for another sync")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(busy):
		}
	}
}

// lockNow tries to lock a file. unlock is nil if another process holds the lock.
func lockNow(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	err = bounded.Lock(f)
	if err == nil {
		locked, _ := f.Stat()
		if there, err := os.Stat(path); err == nil && os.SameFile(locked, there) {
			return func() { f.Close() }, nil
		} // otherwise a failed sync removed the file before this process locked it
	}
	if errors.Is(err, bounded.ErrLocked) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}
