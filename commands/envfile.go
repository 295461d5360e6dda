package commands

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	maxEnvFile   = 1 << 20     // the maximum size of a file of variables
	envFileLimit = time.Minute // the timeout of a read: the writer of a pipe may ask a person for a passphrase
)

// envFileFlag returns the flag of start and serve for a file of variables.
func (o *startOptions) envFileFlag() *cmdline.Flag {
	flag := cmdline.New("env-file", "set the plugin's variables in `FILE`, a line NAME=VALUE for each; --env takes precedence", func(name string) error {
		o.envFiles = append(o.envFiles, name)
		return nil
	}).Repeat()
	flag.IsFile = true
	return cmdline.FlagOf(cmdline.InCategory(backgroundCategory, flag)[0])
}

// readEnvFiles adds the variables of --env-file to those of --env, which take precedence.
func (o *startOptions) readEnvFiles(ctx context.Context) error {
	for _, name := range o.envFiles {
		variables, err := readEnvFile(ctx, name)
		if err != nil {
			return err
		}
		o.fileEnv = append(o.fileEnv, variables...)
	}
	o.Config.Env = slices.Concat(o.fileEnv, o.Config.Env)
	return nil
}

// readEnvFile reads a file of variables, or a pipe.
func readEnvFile(ctx context.Context, name string) (variables []string, err error) {
	limited, cancel := hook.WithLimit(ctx, envFileLimit)
	defer cancel()
	text, err := hook.Interruptible(limited, func() ([]byte, error) { // without a writer of the pipe, this goroutine ends with the process
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		return io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	})
	switch {
	case ctx.Err() != nil:
		return nil, err
	case limited.Err() != nil:
		return nil, cmdline.Usage("--env-file: %s did not end within %s", name, schema.Span(envFileLimit))
	case err != nil:
		return nil, cmdline.Usage("--env-file is not readable: %w", err)
	case len(text) > maxEnvFile:
		return nil, cmdline.Usage("--env-file is %s, which is larger than %d MB", name, maxEnvFile>>20)
	}
	n := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		key, value, found := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || key == "" || strings.ContainsAny(key, " \t\x00") || strings.ContainsRune(value, 0) {
			return nil, cmdline.Usage("--env-file: %s:%d is not a variable, expected NAME=VALUE", name, n) // the message omits the text, which may be a secret
		}
		if last := len(value) - 1; last > 0 && (value[0] == '"' || value[0] == '\'') && value[last] == value[0] {
			value = value[1:last]
		}
		variables = append(variables, key+"="+value)
	}
	return variables, nil
}
