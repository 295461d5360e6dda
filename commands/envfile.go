package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// maxEnvFile is the size of the largest file of variables. envFileLimit is how long the writer of a
// pipe may take, which may ask a person for a passphrase.
const (
	maxEnvFile   = 1 << 20
	envFileLimit = time.Minute
)

// envFileFlag returns the flag of start and serve for a file of variables.
func (o *startOptions) envFileFlag() *cmdline.Flag {
	flag := cmdline.New("env-file", "set the plugin's variables in `FILE`, a line NAME=VALUE for each; --env takes precedence", func(name string) error {
		variables, err := readEnvFile(name, envFileLimit)
		o.fileEnv = append(o.fileEnv, variables...)
		return err
	}).Repeat()
	flag.IsFile = true
	return cmdline.FlagOf(cmdline.InCategory(backgroundCategory, flag)[0])
}

// readEnvFile reads a file of variables, or a pipe. Its error reads after the name of the flag.
func readEnvFile(name string, limit time.Duration) (variables []string, err error) {
	ctx, cancel := hook.WithLimit(context.Background(), limit)
	defer cancel()
	text, err := hook.Interruptible(ctx, func() ([]byte, error) { // if nobody writes the pipe, it ends with the process
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		return io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	})
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("is the pipe %s, whose writer has not closed it within %s", name, schema.Span(limit))
	case err != nil:
		return nil, fmt.Errorf("is not readable: %w", err)
	case len(text) > maxEnvFile:
		return nil, fmt.Errorf("is %s, which is larger than %d MB", name, maxEnvFile>>20)
	}
	n := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		key, value, found := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || key == "" || strings.ContainsAny(key, " \t\x00") || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("has at %s:%d the line %q, expected NAME=VALUE", name, n, line)
		}
		if last := len(value) - 1; last > 0 && (value[0] == '"' || value[0] == '\'') && value[last] == value[0] {
			value = value[1:last]
		}
		variables = append(variables, key+"="+value)
	}
	return variables, nil
}
