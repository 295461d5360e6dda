package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// startOrFind returns the name under which a plugin runs in the background. It starts the
// plugin if it does not run yet.
func (f *program) startOrFind(ctx context.Context, o startOptions) (string, error) {
	p := &plugin{f: f, path: o.cfg.Plugin}
	f.plugin = p
	stop := f.streams.Waiting("starting " + p.path)
	defer stop()
	s, err := runner.Open(ctx, o.cfg)
	p.opened = s
	if err == nil {
		err = p.fits(s)
	}
	if err == nil && !o.auto && f.opts.json && s.Settings().MTLS {
		err = errNoAttach()
	}
	if err != nil {
		return "", err
	}
	for n := range startAttempts {
		for _, name := range namesOf(s, o.name) {
			if ok, err := f.reuse(ctx, p.identity(o, name)); ok || err != nil {
				return name, err
			}
		}
		if n == 0 {
			p.notePython()
		}
		args := []string{daemonWord, "--", o.cfg.Plugin}
		id, err := daemon.Spawn(ctx, args, append(os.Environ(), handOver(o.words)), f.streams.Note)
		if !daemon.Is(err, daemon.AlreadyRuns) { // else another process was faster
			return id.Name, err
		}
	}
	return "", hook.NewError(hook.Unavailable, fmt.Errorf("other processes keep starting and stopping %s", p.path))
}

// startAttempts is how often a plugin is started that other processes start, too, and
// stop each time.
const startAttempts = 5

// reuse reports whether the wanted plugin runs under its name, and waits until it is ready.
// If it runs in another way than wanted, a note says so. It stops a plugin that a call
// started if the plugin's files have changed, or if it is wanted to stay.
func (f *program) reuse(ctx context.Context, wanted daemon.Identity) (bool, error) {
	c, err := daemon.Open(ctx, wanted.Name)
	if isNotRunning(err) || err == nil && c.Identity().Entry != wanted.Entry {
		return false, nil
	}
	var notes []string
	if err == nil {
		_, notes, err = c.Ready(ctx)
	}
	switch {
	case daemon.Is(err, daemon.Stopping):
		return false, c.AwaitFree(ctx)
	case daemon.Is(err, daemon.Lost), isNotRunning(err):
		return false, nil
	case err != nil:
		return false, err
	}
	running := c.Identity()
	if running.AutoStarted && (!wanted.AutoStarted || len(notes) > 0) {
		f.streams.Log("info", "replacing the plugin that a call started", "name", running.Name)
		_, err := daemon.Stop(ctx, running.Name)
		return false, err
	}
	if text := difference(running, wanted); text != "" {
		notes = []string{text}
	} else if wanted.AutoStarted {
		notes = nil // the result of the call brings them
	}
	for _, note := range notes {
		f.streams.Note(note)
	}
	return true, nil
}

// namesOf returns the names that a plugin may get, the preferred one first: the one that
// was typed; or its own, and its own with a short hash of its path, for when another plugin
// has the first.
func namesOf(s *runner.Opened, typed string) []string {
	if typed != "" {
		return []string{typed}
	}
	p := s.Plugin()
	hash := sha256.Sum256([]byte(p.Entry))
	return []string{p.ID, p.ID + "-" + hex.EncodeToString(hash[:3])}
}

// identity says what is served under a name.
func (p *plugin) identity(o startOptions, name string) daemon.Identity {
	s := p.opened
	return daemon.Identity{
		Name: name, Plugin: schema.Path(p.path), Entry: schema.Path(s.Plugin().Entry), Python: schema.Path(s.Interpreter().Path),
		Transport: s.Settings().Transport, Dir: schema.Path(s.Settings().Dir),
		About: p.describe(), Digest: digestOf(s, o), Version: versionText(), AutoStarted: o.auto,
	}
}

// digestOf is equal for two starts that make a plugin run in the same way, however the
// command line says so. The settings after the dot do not matter to a call, see
// [difference].
func digestOf(s *runner.Opened, o startOptions) string {
	settings, k, g := s.Settings(), s.KeepSettings(), o.cfg.GRPC
	k.Events, k.Note, g.MTLS = nil, nil, nil
	if o.cfg.Dir == "" {
		settings.Dir = "" // where it happened to be started
	}
	t := settings.Timeouts
	return shortHash(settings.Transport, settings.Dir, t.Start, t.Stop, k, g, s.Settings().MTLS, o.cfg.Env, o.cfg.CleanEnv, o.cfg.NaN, o.cfg.NoConvert) +
		"." + shortHash(t.Call, settings.ErrorField, o.watch)
}

func shortHash(values ...any) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(h[:8])
}

// difference says how the running plugin differs from the wanted one, apart from its files;
// "" if it does not. A call brings its own timeout and error field.
func difference(running, wanted daemon.Identity) string {
	has, want := running.Digest, wanted.Digest
	if wanted.AutoStarted {
		has, _, _ = strings.Cut(has, ".")
		want, _, _ = strings.Cut(want, ".")
	}
	switch {
	case running.Python != wanted.Python:
		return fmt.Sprintf("%s runs with another Python, %s, and now it would be %s: %s",
			running.Name, running.Python, wanted.Python, startAgain(running.Name))
	case has != want:
		return running.Name + " runs with other settings: " + startAgain(running.Name)
	}
	return ""
}

// startAgain says how to load new flags, another Python or a new manifest.
func startAgain(name string) string {
	return fmt.Sprintf("`pyplug stop %s`, then start it again", name)
}

// errNoAttach is the error of a plugin that no other host can attach to.
func errNoAttach() error {
	return hinted(usage("with mtls, pyplug alone has the key of the connection: no other host can attach"),
		"remove --mtls, or set --mtls=false if the manifest has mtls")
}

// wordsVariable passes flags to the process in the background. They may hold secrets, such
// as those of --env and --header. Every user of the machine can read the command line of a
// process; only the same user can read its environment.
const wordsVariable = "PYPLUG_DAEMON_WORDS"

// handOver returns the variable that holds words, which need not be UTF-8.
func handOver(words []string) string { return wordsVariable + "=" + url.Values{"": words}.Encode() }

// takeOver returns the command line of the process in the background with the words of
// wordsVariable, which it removes from the environment: they are not for the plugin.
func takeOver(args []string) []string {
	if len(args) < 2 || args[1] != daemonWord {
		return args
	}
	values, _ := url.ParseQuery(os.Getenv(wordsVariable)) // as handOver wrote it
	_ = os.Unsetenv(wordsVariable)                        // a name is all that it takes
	return slices.Concat(args[:2], values[""], args[2:])
}
