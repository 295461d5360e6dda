package plan

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// ProgramHint returns a hint that a functions file without hooks may be a gRPC plugin.
func (r *Plan) ProgramHint() []schema.Hint {
	if r.Transport().Serves {
		return nil
	}
	if part := r.programPart(); part != "" {
		return schema.Hints("pass %s grpc if its %s serves gRPC", schema.Setting("transport"), part)
	}
	return nil
}

// mainBlock matches the condition of a block that runs only in a program.
var mainBlock = pysrc.Expression(`(?m)^if .*__name__.*__main__|^if .*__main__.*__name__`)

// programPart returns the name of the part that Python executes only if it runs the plugin as a
// program, or "".
func (r *Plan) programPart() string {
	entry := r.Plugin.Entry
	if _, err := os.Stat(filepath.Join(entry, "__main__.py")); err == nil {
		return "__main__.py"
	}
	if text, ok := pysrc.Read(entry, pysrc.LargestFile); ok && mainBlock().MatchString(text) {
		return "__main__ block"
	}
	return ""
}

// MCPServer returns a usage error if the plugin's file serves the Model Context Protocol by itself.
func (r *Plan) MCPServer() error {
	for _, file := range r.parsed() {
		if name, class := file.MCPServer(); name != "" {
			return &hook.Error{Kind: hook.Usage, Err: fmt.Errorf("%s is an MCP server already: %s is a %s object", r.Config.Plugin, name, class), Hints: []schema.Hint{
				schema.Hintf("run it with its own library, as with `python %s`", r.Config.Plugin),
				schema.Hintf("delete %s and the decorators @%s.tool to serve its functions here", name, name),
			}}
		}
	}
	return nil
}

// parsed returns the files that Python runs. It omits files that cannot be read.
func (r *Plan) parsed() (files []pysrc.File) {
	scripts, _, _ := r.Source()
	for _, script := range scripts {
		if text, ok := pysrc.Read(script, pysrc.LargestFile); ok {
			files = append(files, pysrc.Parse(script, text))
		}
	}
	return files
}
