package pyworker

import (
	"os"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

// runDebug is the code with which Python starts worker/debug.py. Its argument is the descriptor of
// a file with the worker's source and the call.
const runDebug = `import os,sys,json
with os.fdopen(int(sys.argv[1]),encoding="utf-8") as f: pyplug=json.load(f)
exec(pyplug["program"]["parts"],pyplug)`

// Debug replaces this process by a Python that calls a hook in the terminal, and starts the
// debugger at an exception. It returns only if it fails.
func (l *Launcher) Debug(c hook.Call) error {
	body, failed := appendArgs(nil, c)
	if failed != nil {
		return failed
	}
	parts := map[string]string{}
	for name, text := range sourceParts() {
		parts[name] = string(text)
	}
	settings := map[string]any{"convert": !l.cfg.NoConvert, "nan": l.cfg.NaN, "plugin": l.cfg.Plugin}
	given := []any{string(body), l.cfg.Place().Words(), settings}
	content, err := hook.Marshal(map[string]any{"program": parts, "kept": "", "entry": "debug", "given": given})
	if err != nil {
		return hook.NewError(hook.Internal, err)
	}
	file, err := unnamed(content)
	if err != nil {
		return hook.NewError(hook.Start, err)
	}
	defer file.Close()
	return hook.NewError(hook.Interpreter, proc.Exec(proc.Tool{Path: l.cfg.Python, Args: []string{"-c", runDebug}, Env: l.cfg.Env, Dir: l.cfg.Dir}, file))
}

// unnamed returns an open file with content, to be read from its start. It has no name, so that
// nothing has to remove it.
func unnamed(content []byte) (*os.File, error) {
	file, err := os.CreateTemp("", "pyplug-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(file.Name())
	if _, err = file.Write(content); err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
