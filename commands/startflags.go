package commands

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
)

const backgroundCategory = "Background plugins:"

// nameFlags are those of every command that puts a plugin behind a name.
func nameFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: backgroundCategory, Name: "name", Usage: "the `NAME` that it is called by (default: the manifest's id, or the file's name)"},
		&cli.BoolFlag{Category: backgroundCategory, Name: "watch", Usage: "restart the workers when the plugin's own files change"},
		&cli.StringFlag{Category: backgroundCategory, Name: "events", Usage: "append every transition to `FILE`, a line of JSON each"},
	}
}

// limitFlags are those of callFlags that hold for every call of a plugin that is
// kept, unless a call has its own.
func limitFlags() []cli.Flag {
	return slices.DeleteFunc(callFlags(), func(f cli.Flag) bool {
		name := f.Names()[0]
		return name != "timeout" && name != "error-field"
	})
}

// ownFlags say how a plugin that is started runs. Another pyplug is told them, and
// by them two starts are the same.
func ownFlags() []cli.Flag {
	return slices.Concat(nameFlags(), resultFlags(), limitFlags(), keepFlags(), pluginFlags("10m"))
}

// startOptions are what a command line says of a plugin that is put behind a name.
type startOptions struct {
	cfg    runner.Config
	name   string // as typed; empty: the default
	watch  bool
	events string
	words  []string // its flags once more, for another pyplug
	debug  string   // areas
	// auto tells that a call starts it, detached that it runs in the background.
	auto, detached bool
}

// readStart reads ownFlags and the plugin's path. Those that leaveOut names are
// another command's here.
func (f *program) readStart(c *cli.Context, plugin string, leaveOut ...string) (startOptions, error) {
	o := startOptions{watch: c.Bool("watch"), events: c.String("events"), debug: c.String("debug")}
	var err error
	if o.cfg, err = readPlugin(c, plugin); err != nil {
		return o, err
	}
	if err := readResult(c, &o.cfg); err != nil {
		return o, err
	}
	if err := readKeep(c, &o.cfg); err != nil {
		return o, err
	}
	if err := notEmpty(c, "events", "error-field"); err != nil {
		return o, err
	}
	if !slices.Contains(leaveOut, "timeout") {
		o.cfg.Timeouts.Call, o.cfg.ErrorField = durationOf(c, "timeout"), c.String("error-field")
	}
	if o.name = c.String("name"); c.IsSet("name") && !daemon.ValidName(o.name) {
		return o, &nameError{name: o.name}
	}
	o.words = flagWords(c, ownFlags(), append(leaveOut, "name")...)
	return o, nil
}

// digestOf is the same for two starts that make a plugin run in the same way, however
// that was said. Behind a dot stands what calls say each for itself, or have no say in:
// see [sameDigest].
func digestOf(s *runner.Session, o startOptions) string {
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

// nameError says that something cannot be a name.
type nameError struct{ name string }

func (e *nameError) Error() string {
	return "--name is \"" + e.name + "\", want lower case letters, digits, - and _, and a letter or digit first"
}

// noAttachError is told with a hint.
type noAttachError struct{}

func (*noAttachError) Error() string {
	return "with mtls the key of the connection is pyplug's alone, and no other host can attach"
}
