package check

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
)

// release is a version's numbers, such as 6, 31 and 1.
type release [3]int

func (r release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

// versions is how the generated code and the libraries that are installed go
// together.
func (l *sourceLook) versions() []hook.Finding {
	return append(l.protobufVersions(), l.grpcVersions()...)
}

// clash are generated files that a library refuses, which want the same version.
type clash struct {
	first *sourceFile
	more  int
	wants string
	why   string
}

// clashes gathers clashes, by what they want and by whether they break the plugin
// at once.
type clashes []*clash

func (c *clashes) add(f *sourceFile, wants, why string) {
	for _, known := range *c {
		if known.wants == wants && known.first.hard == f.hard && known.why == why {
			known.more++
			return
		}
	}
	*c = append(*c, &clash{first: f, wants: wants, why: why})
}

// finding tells of a clash with a library, which is at version has.
func (l *sourceLook) finding(id string, c *clash, library, has string, fix ...string) hook.Finding {
	f := hook.Finding{ID: id, Verdict: hook.Failure, Kind: hook.Start, File: c.first.path, Fix: fix}
	what := l.shown(c.first.path) + " was"
	if c.more > 0 {
		what = fmt.Sprintf("%s and %s were", l.shown(c.first.path), plural(c.more, "other file"))
	}
	f.Message = fmt.Sprintf("%s generated for %s %s, and %s is installed: %s", what, library, c.wants, has, c.why)
	if !c.first.hard || l.altered { // another runtime may be found when it runs
		f.Verdict = hook.Warning
	}
	return f
}

// gencode is the call by which generated code has its version checked.
var gencode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`ValidateProtobufRuntimeVersion\(\s*_runtime_version\.Domain\.PUBLIC,\s*(\d+),\s*(\d+),\s*(\d+),\s*'([^']*)'`)
})

// protobufVersions are the *_pb2.py files that the protobuf which is installed
// refuses to load.
func (l *sourceLook) protobufVersions() []hook.Finding {
	var found clashes
	var runtime *protobuf
	for _, f := range l.order {
		if !strings.HasSuffix(f.path, "_pb2.py") {
			continue
		}
		m := gencode().FindStringSubmatch(f.text)
		if m == nil {
			continue // it is older than such checks
		}
		if runtime == nil {
			if runtime = l.protobuf(); runtime == nil {
				return nil
			}
		}
		want, suffix := numbers(m[1:4]), m[4]
		if why := runtime.refuses(want, suffix); why != "" {
			found.add(f, want.String()+suffix, why)
		}
	}
	var told []hook.Finding
	for _, c := range found {
		want, _ := parseRelease(c.wants)
		told = append(told, l.finding(protobufTooOld, c, "protobuf", runtime.has.String()+runtime.suffix,
			l.install(fmt.Sprintf("protobuf>=%s,<%d", c.wants, want[0]+2)),
			"or generate it again, with the protoc of the protobuf that is installed"))
	}
	return told
}

// protobuf is a runtime that is installed: its version, and which checks its
// runtime_version.py makes. They differ from release to release, so they are read
// there.
type protobuf struct {
	has    release
	suffix string
	// none: it is older than 5.27 and has no such file, which generated code imports.
	none bool
	// sameMajor: 5.27 refuses code of another major version; nextMajor: up to 6.31
	// that of one version earlier passes, though its minor version counts.
	sameMajor, nextMajor bool
	sameSuffix           bool
	off                  bool // by a variable of the environment
}

// protobuf reads the runtime that the plugin imports; nil when there is none, or
// when it cannot be read.
func (l *sourceLook) protobuf() *protobuf {
	p := protobuf{}
	var ok bool
	text := l.library("google.protobuf", "runtime_version.py")
	if text == "" {
		p.none = true
		p.has, ok = parseRelease(assigned(l.library("google.protobuf", "__init__.py"), "__version__"))
	} else {
		p.has, p.suffix, ok = constants(text)
	}
	if !ok {
		return nil
	}
	p.sameMajor = strings.Contains(text, "gen_major != MAJOR")
	p.nextMajor = strings.Contains(text, "gen_major == MAJOR - 1")
	p.sameSuffix = strings.Contains(text, "gen_suffix != SUFFIX")
	for _, entry := range l.Env {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasSuffix(name, "_DISABLE_PROTOBUF_VERSION_CHECK") && strings.Contains(text, "'"+name+"'") {
			p.off = strings.EqualFold(value, "true")
		}
	}
	return &p
}

// refuses says why the runtime raises an error for code of a version, empty when it
// does not. It follows ValidateProtobufRuntimeVersion of runtime_version.py.
func (p *protobuf) refuses(want release, suffix string) string {
	const older = "the library may not be older"
	if p.off {
		return ""
	}
	if p.none {
		return older
	}
	if p.sameMajor && want[0] != p.has[0] && (!p.nextMajor || want[0] != p.has[0]-1) {
		if want[0] > p.has[0] {
			return older
		}
		return "the generated code is too old for it"
	}
	has := p.has
	if p.sameMajor { // or one earlier: then too, only the rest is compared
		has[0] = want[0]
	}
	if slices.Compare(has[:], want[:]) < 0 {
		return older
	}
	if p.sameSuffix && suffix != p.suffix {
		return "both must have the same suffix"
	}
	return ""
}

var constant = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:OSS_)?(MAJOR|MINOR|PATCH|SUFFIX) = (?:(\d+)|'([^']*)')\s*$`)
})

// constants reads the version in a runtime_version.py.
func constants(text string) (r release, suffix string, ok bool) {
	seen := map[string]string{}
	for _, m := range constant().FindAllStringSubmatch(text, -1) {
		seen[m[1]] = m[2] + m[3]
	}
	for _, name := range []string{"MAJOR", "MINOR", "PATCH"} {
		if seen[name] == "" {
			return release{}, "", false
		}
	}
	return numbers([]string{seen["MAJOR"], seen["MINOR"], seen["PATCH"]}), seen["SUFFIX"], true
}

// grpcVersions are the *_pb2_grpc.py files that the grpcio which is installed is
// too old for. Those generated before 1.65 only warn.
func (l *sourceLook) grpcVersions() []hook.Finding {
	var found clashes
	has, read := "", false
	for _, f := range l.order {
		want := ""
		if strings.HasSuffix(f.path, "_pb2_grpc.py") && strings.Contains(f.text, "raise RuntimeError(") {
			want = assigned(f.text, "GRPC_GENERATED_VERSION")
		}
		if want == "" {
			continue
		}
		if !read {
			has, read = assigned(l.library("grpc", "_grpcio_metadata.py"), "__version__"), true
		}
		if has != "" && l.refusedByGRPC(has, want) {
			found.add(f, want, "the library may not be older")
		}
	}
	var told []hook.Finding
	for _, c := range found {
		told = append(told, l.finding(grpcioTooOld, c, "grpcio", has, l.install("grpcio>="+c.wants),
			"or generate it again, with the grpcio-tools of the grpcio that is installed"))
	}
	return told
}

// refusedByGRPC tells whether generated code raises an error: its own check, for
// which grpcio has a function since 1.63.
func (l *sourceLook) refusedByGRPC(has, want string) bool {
	return !strings.Contains(l.library("grpc", "_utilities.py"), "def first_version_is_lower(") || lower(has, want)
}

// lower is grpc._utilities.first_version_is_lower.
func lower(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range 3 {
		if i >= len(as) || i >= len(bs) {
			return false // it raises an error of its own
		}
		x, err := strconv.Atoi(as[i])
		y, also := strconv.Atoi(bs[i])
		if err != nil || also != nil {
			return false
		}
		if x != y {
			return x < y
		}
	}
	return len(as) < len(bs)
}

// library is the text of a file of an installed package, as the scripts would
// import it; empty when it cannot be read.
func (l *sourceLook) library(pkg, name string) string {
	if len(l.Scripts) == 0 {
		return ""
	}
	suffix := filepath.Join(strings.ReplaceAll(pkg, ".", "/"), "__init__.py")
	for _, path := range l.search.Files(pysrc.Import{Module: pkg}, l.Scripts[0]) {
		if strings.HasSuffix(path, string(filepath.Separator)+suffix) {
			return l.textOf(filepath.Join(filepath.Dir(path), name))
		}
	}
	return ""
}

// assigned is the string that a text assigns to a name at the start of a line,
// empty when it does not.
func assigned(text, name string) string {
	_, rest, ok := strings.Cut("\n"+text, "\n"+name+" = ")
	if !ok {
		return ""
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Trim(strings.TrimSpace(line), `"'`)
}

// parseRelease reads the numbers of a version, such as 6.31.1 or 6.31.0rc1.
func parseRelease(text string) (release, bool) {
	m := regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return release{}, false
	}
	return numbers(m[1:4]), true
}

// numbers are digits as numbers; one that is too large is the largest.
func numbers(digits []string) release {
	var r release
	for i := range r {
		r[i], _ = strconv.Atoi(digits[i])
	}
	return r
}
