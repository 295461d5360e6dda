package commands

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/cases"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// openRecord opens the file of --record for the calls of a plugin, and locks it. Without --record it
// does nothing.
func (f *program) openRecord(o *linesOptions, plugin string) (err error) {
	if o.file == "" {
		return nil
	}
	head := cases.Head{Plugin: plugin, Hook: o.Hook, Items: o.format, Version: versionText()}
	for _, w := range o.Words {
		head.Words = append(head.Words, w.Typed)
	}
	for name, stream := range map[string]any{"input": f.streams.In, "output": f.streams.Out} {
		if isFile(stream, o.file) {
			return usage("record: %s is also standard %s", o.file, name)
		}
	}
	o.record, err = cases.OpenRecord(o.file, head)
	return err
}

// isFile reports whether a stream is the regular file with that name.
func isFile(stream any, name string) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	is, err := file.Stat()
	there, failed := os.Stat(name)
	return err == nil && failed == nil && is.Mode().IsRegular() && os.SameFile(is, there)
}

// beginRecord makes lines use the record for a plugin that has started.
func (p *plugin) beginRecord(ctx context.Context, o *linesOptions) error {
	if o.record == nil {
		return nil
	}
	o.Record = o.record
	files := ""
	if p.opened != nil {
		var err error
		if files, err = p.opened.Digest(ctx); err != nil {
			return err
		}
	}
	return recordError(o.record.Begin(files))
}

// endRecord closes the record, and says how many answers came from it.
func (f *program) endRecord(o *linesOptions, kept int64) {
	if o.record == nil {
		return
	}
	_ = o.record.Close() // what was written is written
	if kept == 0 {
		return
	}
	text := fmt.Sprintf("%s came from %s", schema.Plural(kept, "answer"), o.file)
	if n := o.record.Outdated(); n > 0 {
		text += fmt.Sprintf("; %d of them when the plugin had other files", n)
	}
	f.streams.Note(text)
}

// recordError returns the error of the command if the record cannot be read or written, else err.
func recordError(err error) error {
	if failed := (*lines.RecordError)(nil); errors.As(err, &failed) {
		return &hook.Error{Kind: hook.Failed, Reason: ui.OutputFailed, Err: failed}
	}
	return err
}
