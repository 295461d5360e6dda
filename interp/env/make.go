package env

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
)

// Make makes the environment if it does not exist, and records it for the plugin. It waits for
// another process that is making the same environment. made is false if the environment existed,
// or if the other process made it. On error, or if ctx ends, Make leaves nothing behind. The
// error is an [*Error] or ctx's cause.
func (p Plan) Make(ctx context.Context) (made bool, err error) {
	if !p.Exists || p.isLeft() {
		made, err = p.makeOnce(ctx)
	}
	if p.Exists && errors.Is(err, fs.ErrPermission) {
		err = nil // the rest of a killed sync in somebody else's cache
	}
	if err == nil {
		if err = p.record(); p.request.InPlace {
			err = nil // a start finds it beside the plugin
		}
	}
	if e := (*Error)(nil); err == nil || errors.As(err, &e) || ctx.Err() != nil {
		return made, err
	}
	return made, failed(err, nil)
}

// isLeft reports whether a killed or running sync left files.
func (p Plan) isLeft() bool {
	return slices.ContainsFunc([]string{p.work(), p.lockFile()}, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

// workSuffix follows the environment's name in the name of its work directory.
const workSuffix = ".pyplug"

// work returns the directory in which the environment is made.
func (p Plan) work() string { return p.Dir + workSuffix }

func (p Plan) lockFile() string { return p.work() + ".lock" }

// makeOnce makes the environment, unless another process made it while this one waited.
func (p Plan) makeOnce(ctx context.Context) (made bool, err error) {
	if !p.request.InPlace {
		if err := os.MkdirAll(filepath.Dir(p.Dir), 0o700); err != nil {
			e := failed(err, nil)
			e.Advice = CacheHint
			return false, e
		}
	}
	unlock, err := p.lock(ctx, p.lockFile())
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := os.RemoveAll(p.work()); err != nil { // of a sync that was killed
		return false, err
	}
	now, err := NewPlan(p.request)
	if err != nil || now.Exists && now.key == p.key {
		return false, err
	}
	err = p.build(ctx)
	return err == nil, err
}

// busy is the delay between two attempts to lock.
const busy = 50 * time.Millisecond

// lock acquires the lock of the environment and waits while another process holds it. unlock
// removes its file.
func (p Plan) lock(ctx context.Context, path string) (unlock func(), err error) {
	for waiting := false; ; waiting = true {
		unlock, err := lockNow(path)
		if unlock != nil || err != nil {
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

// lockNow tries to acquire a lock. unlock is nil if another process holds it.
func lockNow(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ok, err := tryLock(f)
	if err != nil {
		err = &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	if ok {
		locked, _ := f.Stat()
		if there, err := os.Stat(path); err == nil && os.SameFile(locked, there) {
			return func() { removeLocked(f) }, nil
		} // else its owner removed it before this process locked it
	}
	return nil, errors.Join(err, f.Close())
}

// build makes the environment in another directory, then renames it. The caller holds the lock.
func (p Plan) build(ctx context.Context) (err error) {
	work := p.work()
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	aside, temporary := filepath.Join(work, filepath.Base(p.Dir)), filepath.Join(work, "tmp")
	for _, dir := range []string{work, aside, temporary} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
	}
	if err := p.fill(ctx, aside, temporary); err != nil {
		return err
	}
	if now, err := findSource(p.request.Entry, p.request.Dirs); err != nil || now.digest != p.Source.digest || now.place != p.Source.place {
		return fmt.Errorf("%s has changed meanwhile", p.Source.Path)
	}
	if err := relocate(aside, p.Dir); err != nil {
		return err
	}
	content, err := json.Marshal(mark{Key: p.key, Source: p.Source.Path, Digest: p.Source.digest, Installer: p.Installer, Python: p.request.Real})
	if err == nil {
		err = os.WriteFile(filepath.Join(aside, marker), append(content, '\n'), 0o666)
	}
	if err == nil && p.request.InPlace {
		err = os.WriteFile(filepath.Join(aside, ".gitignore"), []byte("*\n"), 0o666)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(p.Dir, filepath.Join(work, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(aside, p.Dir)
}

// maxScript is the size of the largest script that [relocate] looks at.
const maxScript = 1 << 20

// relocate replaces the path from with the path to in the scripts of the environment in from. The
// caller then moves the environment. relocate writes new files, because an installer may share
// files between environments.
func relocate(from, to string) error {
	scripts := filepath.Dir(python(from))
	entries, err := bounded.Dir(scripts)
	if err != nil {
		return err
	}
	paths := []string{filepath.Join(from, "pyvenv.cfg")}
	for _, entry := range entries {
		paths = append(paths, filepath.Join(scripts, entry.Name()))
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
			continue
		}
		content, _, err := bounded.Read(path, maxScript)
		if err != nil {
			return err
		}
		if !bytes.Contains(content, []byte(from)) || bytes.IndexByte(content, 0) >= 0 {
			continue
		}
		changed := path + ".pyplug"
		if err := os.WriteFile(changed, bytes.ReplaceAll(content, []byte(from), []byte(to)), info.Mode().Perm()); err != nil {
			return err
		}
		if err := os.Rename(changed, path); err != nil {
			return err
		}
	}
	return nil
}
