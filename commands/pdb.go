package commands

import (
	"context"

	"github.com/pyplug/pyplug/commands/cmdline"
)

// debug replaces pyplug by the plugin's Python, which calls the hook in the terminal. It returns
// only if that fails.
func (prog *program) debug(ctx context.Context, o callOptions) error {
	if prog.opts.json || o.raw {
		return cmdline.Usage("--pdb cannot be combined with --json or --raw")
	}
	p := prog.newLocal(o.Config.Plugin, prog.opts.quiet)
	err := p.open(ctx, o.Config)
	if err == nil {
		err = prog.readInput(ctx, false, &o)
	}
	if err == nil {
		err = p.Debug(o.call)
	}
	p.output.Close()
	return failed(p, err)
}
