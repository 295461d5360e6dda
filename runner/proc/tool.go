package proc

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

const (
	defaultLimit     = 30 * time.Second
	defaultMaxOutput = 1 << 20
)

// Tool is a program that runs to its end without input.
type Tool struct {
	// Path, Args, Env and Dir have the same meaning as in [Spec].
	Path      string
	Args, Env []string
	Dir       string
	// Limit is the timeout of the tool. Zero means 30 seconds.
	Limit time.Duration
	// MaxOutput is the number of bytes of each stream that Run keeps. Zero means 1 MiB.
	MaxOutput int
}

// Output is the result of a tool. The caller owns its slices.
type Output struct {
	// Stdout and Stderr contain the first MaxOutput bytes of each stream.
	Stdout, Stderr []byte
	Exit           Exit
}

// Run runs a tool with an empty standard input, and returns when the tool and everything that it
// started are gone. An exit code other than 0, or a signal, is not an error, see Output.Exit. All
// errors except the first come with the output so far:
//
//   - the tool cannot be started;
//   - ctx ended, and the tool was killed: the error of ctx;
//   - the tool took longer than Limit: [context.DeadlineExceeded];
//   - the tool wrote more than MaxOutput to standard output. More on standard error is only
//     dropped.
func Run(ctx context.Context, t Tool) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, fmt.Errorf("%s: not started: %w", t.Path, err)
	}
	t.Limit, t.MaxOutput = cmp.Or(t.Limit, defaultLimit), cmp.Or(t.MaxOutput, defaultMaxOutput)
	kept, length := map[Stream][]byte{}, map[Stream]int{}
	p, err := Start(Spec{
		Path: t.Path, Args: t.Args, Env: t.Env, Dir: t.Dir,
		raw: func(s Stream, b []byte) {
			length[s] += len(b)
			kept[s] = append(kept[s], b[:min(len(b), t.MaxOutput-len(kept[s]))]...)
		},
	})
	if err != nil {
		return Output{}, err
	}
	limit := time.NewTimer(t.Limit)
	defer limit.Stop()
	select {
	case <-p.Done():
	case <-limit.C:
		p.Kill()
		err = fmt.Errorf("%s: no end within %v: %w", t.Path, t.Limit, context.DeadlineExceeded)
	case <-ctx.Done():
		p.Kill()
		err = fmt.Errorf("%s: killed: %w", t.Path, ctx.Err())
	}
	out := Output{Stdout: kept[Stdout], Stderr: kept[Stderr], Exit: p.Exit()}
	if err == nil && length[Stdout] > t.MaxOutput {
		err = fmt.Errorf("%s: wrote %d bytes, expected at most %d", t.Path, length[Stdout], t.MaxOutput)
	}
	return out, err
}
