package pysrc

import (
	"cmp"
	"slices"
	"strings"
)

// Serves records how the files of a plugin serve gRPC.
type Serves struct {
	// SDK is an imported library that serves plugins.
	SDK string
	// ImportsGRPC reports whether a file imports grpc, grpclib or betterproto.
	ImportsGRPC bool
	// PrintsHandshake reports whether a file has a literal like go-plugin's line, such as
	// f"1|1|tcp|127.0.0.1:{port}|grpc", or whether files join fields with bars and have the literal
	// "grpc". Printer is the path of the file that completed this evidence.
	PrintsHandshake bool
	Printer         string
	// StartsServer reports whether a file imports gRPC and calls something.server, as in
	// grpc.server, or imports the server of grpc, grpc.aio or grpclib.
	StartsServer bool
}

// sdks lists the modules that serve plugins of go-plugin.
var sdks = []string{
	"funppy", "hc_go_plugin_server",
	"pyplugin", // distribution python-plugin
	"pyvider.rpcplugin", "pyvider.cli", "saturn_bot",
	"tf.runner",
}

// Any reports whether the files serve in one of these ways. An import of gRPC alone does not count,
// because clients import it, too.
func (s Serves) Any() bool { return s.SDK != "" || s.PrintsHandshake || s.StartsServer }

// In rendered code, ‹ and › replace the quotes of a literal, and % replaces the placeholders of a
// format. Every expression matches inside one logical line.
var (
	adjacent      = Expression(`›\s*‹`) // Python joins the two literals
	handshakeLine = Expression(`‹\s*(?:[1%]\|[^|\s›]*)?\|(?:tcp|unix)\|`)
	joinedFields  = Expression(`‹\s*[1%]\|[^|\s›]*\|(?:%|›)|‹\|›\.join\(|(?:\w\s*=|\+)\s*‹\|›`)
	protocolField = Expression(`[‹|]grpc(?:\\n)?(?:\||›)`)
)

// longest is the number of bytes of a literal that are examined. A handshake is shorter, a
// descriptor longer.
const longest = 1000

// quoted renders a literal for [ServesOf] in one line. % replaces placeholders of a format, such as
// {…} and %s.
func quoted(l literal) string {
	text := strings.ReplaceAll(l.text[:min(len(l.text), longest)], "\n", " ")
	if strings.ContainsAny(text, "{%") {
		text = format().ReplaceAllString(text, "%")
	}
	return "‹" + text + "›"
}

// servers lists the modules that contain gRPC's servers.
var servers = []string{"grpc.server", "grpc.aio.server", "grpclib.server"}

// ServesOf returns how the files of a plugin serve gRPC. It ignores comments and docstrings.
func ServesOf(files []File) (s Serves) {
	joins, protocol := false, false // the two parts of a joined line, which may be in different files
	for _, f := range files {
		importsGRPC := false
		for _, imp := range f.imports {
			if imp.Level > 0 {
				continue
			}
			top, _, _ := strings.Cut(imp.Module, ".")
			importsGRPC = importsGRPC || slices.Contains([]string{"grpc", "grpclib", "betterproto"}, top)
			s.SDK = cmp.Or(s.SDK, imp.sdk())
			s.StartsServer = s.StartsServer || slices.ContainsFunc(servers, imp.loads)
		}
		s.ImportsGRPC = s.ImportsGRPC || importsGRPC
		s.StartsServer = s.StartsServer || importsGRPC && strings.Contains(f.code, ".server(")
		for line := range strings.Lines(f.code) {
			// A line that begins with a literal is a docstring, or has no effect.
			if !strings.Contains(line, "‹") || strings.HasPrefix(strings.TrimLeft(line, " \t"), "‹") ||
				!strings.Contains(line, "|") && !strings.Contains(line, "grpc") {
				continue
			}
			if strings.Count(line, "‹") > 1 {
				line = adjacent().ReplaceAllString(line, "")
			}
			joins = joins || joinedFields().MatchString(line)
			protocol = protocol || strings.Contains(line, "grpc") && protocolField().MatchString(line)
			if !s.PrintsHandshake && (joins && protocol || handshakeLine().MatchString(line)) {
				s.PrintsHandshake, s.Printer = true, f.Path
			}
		}
	}
	return s
}

// sdk returns the SDK that the import loads, or "".
func (i Import) sdk() string {
	for _, sdk := range sdks {
		if i.loads(sdk) {
			return sdk
		}
	}
	return ""
}

// loads reports whether the import loads a module or one of its submodules.
func (i Import) loads(wanted string) bool {
	loads := func(module string) bool { return module == wanted || strings.HasPrefix(module, wanted+".") }
	return loads(i.Module) || slices.ContainsFunc(i.Names, func(name string) bool { return loads(i.Module + "." + name) })
}

var format = Expression(`\{(?:[^{}]|\{[^{}]*\})*\}|%\(\w*\)[sdirba]?|%[sdirba]`)

// serverObject matches an object at module level, in rendered code, that serves the Model Context
// Protocol.
var serverObject = Expression(`(?m)^(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\.)*(FastMCP|MCPServer)\(`)

// MCPServer returns the name and the class of the object with which the file itself serves the
// Model Context Protocol. Both are empty if there is none.
func (f File) MCPServer() (name, class string) {
	if found := serverObject().FindStringSubmatch(f.code); found != nil {
		return found[1], found[2]
	}
	return "", ""
}
