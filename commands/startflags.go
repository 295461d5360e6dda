package commands

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

const backgroundCategory = "Background plugins:"

// startOptions are what a command line says of a plugin that is put behind a name.
type startOptions struct {
	cfg    runner.Config
	name   string // as typed; empty: the default
	watch  bool
	events string

	words []string // its flags, for the process that stays
	debug string   // areas
	// auto reports whether a call starts it, detached whether it runs in the
	// background.
	auto, detached bool
}

// nameFlags are those of every command that puts a plugin behind a name.
func (o *startOptions) nameFlags() []cli.Flag {
	return inCategory(backgroundCategory,
		newFlag("name", "call the plugin `NAME` (default: the manifest's id, or the file's name)", func(text string) error {
			if o.name = text; !daemon.ValidName(text) {
				return fmt.Errorf("is %q, want lower case letters, digits, - and _, and a letter or digit first", text)
			}
			return nil
		}),
		switchFlag(&o.watch, "watch", "restart the workers when the plugin's own files change"),
		fileFlag(&o.events, "events", "append every transition to `FILE`, a line of JSON each"),
	)
}

// flags are those of start.
func (o *startOptions) flags() []cli.Flag {
	return slices.Concat(o.nameFlags(), limitFlags(&o.cfg.Timeouts.Call, &o.cfg.ErrorField), launchFlags(&o.cfg))
}

// readStart completes what the flags say. Flags are those that the process that stays is
// given.
func (f *program) readStart(o *startOptions, flags []cli.Flag) {
	o.debug = strings.Join(f.opts.debug, ",")
	o.words = flagWords(slices.DeleteFunc(slices.Clone(flags), func(flag cli.Flag) bool { return flag.Names()[0] == "name" }))
}

// digestOf is the same for two starts that make a plugin run in the same way, however
// that was said. Behind a dot stands what calls say each for itself, or have no say in:
// see [sameDigest].
func digestOf(s *runner.Opened, o startOptions) string {
	settings, k, g := s.Settings(), s.KeepSettings(), o.cfg.GRPC
	k.Events, k.Note, g.MTLS = nil, nil, nil
	if o.cfg.Dir == "" {
		settings.Dir = "" // where it happened to be started
	}
	t := settings.Timeouts
	how := fmt.Sprintf("%#v", []any{settings.Transport, settings.Dir, t.Start, t.Stop, k, g, s.Program().MTLS,
		o.cfg.Env, o.cfg.CleanEnv, o.cfg.NaN})
	rest := fmt.Sprintf("%#v", []any{t.Call, settings.ErrorField, o.watch})
	return shortHash(how) + "." + shortHash(rest)
}

func shortHash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:8])
}

// sameDigest tells whether what runs runs as it is wanted; a call wants less.
func sameDigest(running, wanted daemon.Identity) bool {
	if !wanted.AutoStarted {
		return running.Digest == wanted.Digest
	}
	has, _, _ := strings.Cut(running.Digest, ".")
	want, _, _ := strings.Cut(wanted.Digest, ".")
	return has == want
}

// errNoAttach is the error of a plugin that no other host can attach to.
func errNoAttach() error {
	return &hook.Error{Kind: hook.Usage, Hints: []string{"leave --mtls out, or `mtls` in the manifest: --mtls=false"},
		Err: errors.New("with mtls the key of the connection is pyplug's alone, and no other host can attach")}
}
