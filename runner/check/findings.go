package check

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// The names of the findings, in the order of the stages. They never change. Each has a page in
// docs/findings, which describes the problem, why hosts care and how to fix it. A test compares the
// list and the pages.
const (
	pluginInvalid        = "plugin-invalid"
	pythonMissing        = "python-missing"
	pythonSkipped        = "python-skipped"
	syntaxError          = "syntax-error"
	sourceUnchecked      = "source-unchecked"
	importMissing        = "import-missing"
	startFailed          = "start-failed"
	handshakeImported    = "handshake-imported"
	stdoutNoise          = "stdout-noise"
	handshakeMissing     = "handshake-missing"
	handshakeMalformed   = "handshake-malformed"
	handshakeOdd         = "handshake-odd"
	handshakeSlow        = "handshake-slow"
	addressRefused       = "address-refused"
	addressNotOwned      = "address-not-owned"
	connectFailed        = "connect-failed"
	addressExposed       = "address-exposed"
	healthMissing        = "health-missing"
	healthUnknownService = "health-unknown-service"
	healthNotServing     = "health-not-serving"
	healthSilent         = "health-silent"
	noHooks              = "no-hooks"
	hooksUnknown         = "hooks-unknown"
	annotationUnresolved = "annotation-unresolved"
	callFailed           = "call-failed"
	mcpServer            = "mcp-server"
	mcpFailed            = "mcp-failed"
	noTools              = "no-tools"
	toolRenamed          = "tool-renamed"
	toolRefused          = "tool-refused"
	schemaMissing        = "schema-missing"
	endedByItself        = "ended-by-itself"
	noController         = "no-controller"
	shutdownError        = "shutdown-error"
	stopUnclean          = "stop-unclean"
	stopKilled           = "stop-killed"
	stopFailed           = "stop-failed"
	leftBehind           = "left-behind"
	cookieUnchecked      = "cookie-unchecked"
	cookieUnknown        = "cookie-unknown"
	hostRefused          = "host-refused"
	hostHangs            = "host-hangs"
	hostCrashes          = "host-crashes"
	hostKills            = "host-kills"
	hostUnchecked        = "host-unchecked"
	handshakeUnflushed   = "handshake-unflushed"
	addressFixed         = "address-fixed"
	againFailed          = "again-failed"
)

// fixes maps the names of findings to what to do if their error has no hint.
var fixes = map[string]string{
	pluginInvalid:      "correct the path, flag or manifest entry named above",
	pythonMissing:      "name a Python 3.9 or later, or its environment, with --python",
	connectFailed:      "start a gRPC server at that address before printing the handshake, without TLS unless the host asks for it",
	handshakeMalformed: "print a line such as 1|1|tcp|127.0.0.1:4410|grpc",
	healthNotServing:   "report SERVING (a function: return None or True) once the plugin can work",
	healthSilent:       "answer at once: health must not wait for a lock or a thread that a call may hold",
	hooksUnknown:       "regenerate the code from one set of .proto files",
	callFailed:         "fix the hook or the arguments of --call",
	endedByItself:      "keep the plugin running until it is stopped",
	stopFailed:         "fix the shutdown calls of the manifest, or what keeps the plugin from ending",
	againFailed:        "make the start independent of what the last run left behind: sockets, locks, files",
}

// found returns a finding without an error.
func found(id string, v hook.Verdict, message string, fix ...string) hook.Finding {
	return hook.Finding{ID: id, Verdict: v, Message: message, Fix: fix}
}

// withVerdict sets a stage's verdict to the verdict of its worst finding, and adds a fix to each
// finding without one.
func withVerdict(st hook.Stage) hook.Stage {
	for i, f := range st.Findings {
		if fix, ok := fixes[f.ID]; ok && len(f.Fix) == 0 {
			st.Findings[i].Fix = []string{fix}
		}
	}
	if worst := st.Worst(); worst != nil {
		st.Verdict = worst.Verdict
		if st.Message == "" || worst.Verdict == hook.Failure {
			st.Message = worst.Message
		}
	}
	return st
}

// failed returns a stage with one finding.
func failed(f hook.Finding) hook.Stage { return hook.Stage{Findings: []hook.Finding{f}} }

// endsCheck reports whether an error is not about the plugin and therefore ends the check.
func endsCheck(e *hook.Error) bool {
	return e != nil && (e.Kind == hook.Canceled || e.Kind == hook.Internal)
}

// fail returns the finding for an error. The stage must return it even if the error is not about
// the plugin, because such a finding ends the check.
func (c *check) fail(id string, err error) hook.Finding {
	e := hook.AsError(err)
	// Only the error contains the output of later starts.
	f := hook.Finding{ID: id, Verdict: hook.Failure, Kind: e.Kind, Message: e.Error(), Err: e, Printed: id != againFailed}
	if id != healthSilent { // no hint, because check has no flag for this limit
		f.Fix = hook.Words(c.s.Hints(e))
	}
	f.File, f.Line = c.place(e)
	return f
}

// failAs is like fail, for a stage whose failures all have the exit code of k.
func (c *check) failAs(k hook.Kind, id string, err error) hook.Finding {
	f := c.fail(id, err)
	f.Kind = k
	return f
}

// place returns the place in the plugin's own files where an error occurred, or "" if it is
// unknown.
func (c *check) place(e *hook.Error) (file string, line int) {
	frames := e.At
	if e.Python != nil {
		frames = e.Python.Frames
	}
	_, _, dirs := c.s.Source()
	for _, at := range slices.Backward(frames) {
		file := string(at.File)
		if filepath.IsAbs(file) && slices.ContainsFunc(dirs, func(dir string) bool { return owns(dir, file) }) {
			return file, at.Line
		}
	}
	return "", 0
}

// owns reports whether a file is below dir, and not among installed packages there.
func owns(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	names := strings.Split(rel, string(filepath.Separator))
	return !slices.Contains(names, "site-packages") && !slices.Contains(names, "dist-packages")
}

// reported reports whether the report has a finding for which fits returns true.
func (c *check) reported(fits func(hook.Finding) bool) bool {
	return slices.ContainsFunc(c.report.Stages, func(st hook.Stage) bool { return slices.ContainsFunc(st.Findings, fits) })
}
