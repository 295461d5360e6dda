package runner

import (
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// mainBlock is the statement that runs only in a program.
var mainBlock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^if .*__name__.*__main__|^if .*__main__.*__name__`)
})

// OtherHost returns the host whose SDK the plugin's file imports, if that is none of
// go-plugin; the zero value for any other plugin.
func (o *Opened) OtherHost() pysrc.OtherHost {
	scripts, _, _ := o.Source()
	for _, script := range scripts {
		if text, ok := pysrc.Read(script, pysrc.LargestFile); ok {
			if host := pysrc.Parse(script, text).OtherHost(); host.SDK != "" {
				return host
			}
		}
	}
	return pysrc.OtherHost{}
}

// programPart names what of the plugin's file Python executes only when it runs the file;
// empty if there is nothing.
func (o *Opened) programPart() string {
	entry := o.plugin.Entry
	if _, err := os.Stat(filepath.Join(entry, "__main__.py")); err == nil {
		return "__main__.py"
	}
	if text, ok := pysrc.Read(entry, pysrc.LargestFile); ok && mainBlock().MatchString(text) {
		return "__main__ block"
	}
	return ""
}

// IsProgram reports whether the plugin's file does something only when Python runs it.
func (o *Opened) IsProgram() bool { return o.programPart() != "" }

// ProgramHint says what a plugin without hooks may be, if that is none of its transport.
func (o *Opened) ProgramHint() []string { return o.transport.programHint() }
