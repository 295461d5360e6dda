package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// StartAttempts is the number of attempts of [Start] while other processes start and stop the same
// plugin.
const StartAttempts = 5

// Starter contains the functions that [Start] calls.
type Starter struct {
	// Spawn starts the plugin in another process, which serves it.
	Spawn func() (daemon.Identity, error)
	// Note reports a message to the user.
	Note func(text string)
	// Replacing is called before Start replaces a running plugin. It receives the name of that
	// plugin.
	Replacing func(name string)
}

// Start returns the name under which the opened plugin runs in the background. It starts the plugin
// if it does not run yet.
func Start(ctx context.Context, k *runner.Keeper, o Options, by Starter) (string, error) {
	for range StartAttempts {
		for _, name := range namesOf(k, o.Name) {
			if ok, err := by.reuse(ctx, identity(k, o, name)); ok || err != nil {
				return name, err
			}
		}
		id, err := by.Spawn()
		if !daemon.Is(err, daemon.AlreadyRuns) { // otherwise another process was faster
			if err == nil && o.Name == "" && !o.AutoStarted {
				by.noteName(k, id.Name)
			}
			return id.Name, err
		}
	}
	return "", hook.NewError(hook.Unavailable, fmt.Errorf("other processes keep starting and stopping %s", o.Config.Plugin))
}

// reuse reports whether the wanted plugin already runs under its name, and waits until it is ready.
// If its settings differ from the wanted ones, it reports a note. reuse stops a plugin that a call
// started if the plugin's files have changed, or if the wanted plugin must not stop when idle. It
// also stops a plugin that no longer restarts, unless a call wants it.
func (by Starter) reuse(ctx context.Context, wanted daemon.Identity) (bool, error) {
	c, err := daemon.Open(ctx, wanted.Name)
	if daemon.Is(err, daemon.NotRunning) || err == nil && c.Identity().Entry != wanted.Entry {
		return false, nil
	}
	var st hook.Status
	var notes []string
	if err == nil {
		st, notes, err = c.Ready(ctx)
	}
	switch {
	case daemon.Is(err, daemon.Stopping):
		return false, c.AwaitFree(ctx)
	case daemon.Is(err, daemon.Lost), daemon.Is(err, daemon.NotRunning):
		return false, nil
	case err != nil:
		return false, err
	}
	running := c.Identity()
	if running.AutoStarted && (!wanted.AutoStarted || len(notes) > 0) || st.State.Ended() && !wanted.AutoStarted {
		by.Replacing(running.Name)
		_, err := daemon.Stop(ctx, running.Name, daemon.StopOptions{Reason: "pyplug start replaces it"})
		return false, err
	}
	if text := difference(running, wanted); text != "" {
		notes = []string{text}
	} else if wanted.AutoStarted {
		notes = nil // the result of the call contains the notes
	}
	for _, note := range notes {
		by.Note(note)
	}
	return true, nil
}

// noteName reports a name that users would not guess from the plugin's file.
func (by Starter) noteName(k *runner.Keeper, name string) {
	switch p := k.Plugin; {
	case name != p.ID:
		by.Note(fmt.Sprintf("it runs as %s, because another plugin is called %s", name, p.ID))
	case p.NamedAfterDir() && filepath.Base(k.Config.Plugin) == filepath.Base(p.Entry):
		by.Note(fmt.Sprintf("it runs as %s, after its directory", name))
	}
}

// StartedAttach returns how to attach to a plugin that [Start] started.
func StartedAttach(ctx context.Context, name string) (string, error) {
	c, err := daemon.Open(ctx, name)
	if err != nil {
		return "", err
	}
	st, _, err := c.Ready(ctx)
	if err == nil && st.Attach == nil {
		err = hook.NewError(hook.Unavailable, errors.New("no worker is ready"))
	}
	return string(st.Attach), err
}

// namesOf returns the names that a plugin may get, the preferred one first. If a name was typed, it
// is the only one. Otherwise they are the plugin's own name, and that name with a short hash of its
// path, in case another plugin has the first.
func namesOf(k *runner.Keeper, typed string) []string {
	if typed != "" {
		return []string{typed}
	}
	p := k.Plugin
	hash := sha256.Sum256([]byte(p.Entry))
	return []string{p.ID, p.ID + "-" + hex.EncodeToString(hash[:3])}
}

// identity describes the plugin under a name.
func identity(k *runner.Keeper, o Options, name string) daemon.Identity {
	c := k.Config
	calls, rest := c.Digest()
	return daemon.Identity{
		Name: name, Plugin: schema.Path(c.Plugin), Entry: schema.Path(k.Plugin.Entry), Python: schema.Path(k.Interpreter().Path),
		Transport: c.Transport, Dir: schema.Path(k.Dir),
		About: k.About(), Digest: calls + "." + rest, Version: o.Version, AutoStarted: o.AutoStarted,
	}
}

// difference says how the running plugin differs from the wanted one, apart from its files. It
// returns "" if there is no difference. The settings after the dot of a digest do not affect calls.
func difference(running, wanted daemon.Identity) string {
	has, want := running.Digest, wanted.Digest
	if wanted.AutoStarted {
		has, _, _ = strings.Cut(has, ".")
		want, _, _ = strings.Cut(want, ".")
	}
	switch {
	case running.Python != wanted.Python:
		return fmt.Sprintf("%s runs with another Python, %s, and now it would be %s; %s",
			running.Name, running.Python, wanted.Python, startAgain(running.Name))
	case has != want:
		return running.Name + " runs with other settings; " + startAgain(running.Name)
	}
	return ""
}
