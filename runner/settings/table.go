package settings

import (
	"maps"
	"math"
	"slices"
)

// The names of transports.
const (
	pipe = "pipe"
	grpc = "grpc"
)

// env is the key of the table of variables.
const env = "env"

// Table contains every setting, in the order of the documentation.
var Table = []Row{
	{Key: "entry", Help: "the file, package or program", Shown: "plugin.py, main.py and the like", Matters: ToNothing,
		field: func(s *Settings) any { return &s.Entry }},
	{Key: "id", Help: "the default `NAME` of a background plugin", Shown: "the file's name", Matters: ToNothing,
		field: func(s *Settings) any { return &s.ID }},
	{Flag: "transport", Key: "transport", Commands: Start, Rare: true, Help: "connect to the plugin over `TRANSPORT`",
		Shown: "detected", Words: []string{pipe, grpc},
		field: func(s *Settings) any { return &s.Transport }},
	{Flag: "python", Variable: "PYPLUG_PYTHON", Key: "python", Commands: Find, File: true, Unread: true, Matters: ToNothing,
		Help:  "use this Python: a `PATH`, an environment, a name or a version",
		field: func(s *Settings) any { return &s.Python }},
	{Key: "requires-python", Help: "the versions of Python that the plugin supports, such as >=3.10", Matters: ToNothing,
		field: func(s *Settings) any { return &s.RequiresPython }},
	{Flag: "env", Key: env, Commands: Start, Secret: true, check: checkVariable,
		Help:  "set the plugin's variable `K=V`; with --clean-env, K alone passes it on",
		field: func(s *Settings) any { return &s.Env }},
	{Flag: "clean-env", Commands: Start, Rare: true, Help: "give the plugin only PATH, HOME, the locale and the like, the manifest's env and --env",
		field: func(s *Settings) any { return &s.CleanEnv }},
	{Flag: "cwd", Key: "cwd", Commands: Start, File: true, Help: "run the plugin in the working directory `DIR`", Shown: "the current one",
		field: func(s *Settings) any { return &s.WorkDir }},

	{Flag: "timeout", Variable: "PYPLUG_TIMEOUT", Key: "timeouts.call", Commands: Call, Help: "limit a call to `DURATION`",
		Default: "2m", Zero: int64(Forever), Matters: ToStart,
		field: func(s *Settings) any { return &s.Timeouts.Call }},
	{Flag: "start-timeout", Variable: "PYPLUG_START_TIMEOUT", Key: "timeouts.start", Commands: Start, Rare: true,
		Help: "limit the import or the handshake to `DURATION`", Default: "10m", ServerDefault: "30s", Zero: int64(Forever),
		field: func(s *Settings) any { return &s.Timeouts.Start }},
	{Flag: "stop-timeout", Variable: "PYPLUG_STOP_TIMEOUT", Key: "timeouts.stop", Commands: Start, Rare: true,
		Help: "kill a plugin that has not ended after `DURATION`", Default: "5s", Zero: int64(Forever),
		field: func(s *Settings) any { return &s.Timeouts.Stop }},
	{Key: "timeouts.probe", Help: "limit a health probe to `DURATION`", Default: "2s", Zero: int64(Forever),
		field: func(s *Settings) any { return &s.Timeouts.Probe }},

	{Flag: "nan", Commands: Result, Rare: true, Help: "turn NaN and Infinity in a result into `WHAT`",
		Default: "error", Words: []string{"error", "null", "literal"},
		field: func(s *Settings) any { return &s.NaN }},
	{Flag: "no-convert", Key: "no-convert", Commands: Result, Rare: true, Help: "do not convert arguments to their annotations",
		field: func(s *Settings) any { return &s.NoConvert }},

	{Flag: "workers", Variable: "PYPLUG_WORKERS", Key: "workers", Commands: Keep, Help: "run `N` worker processes, or auto: one for each core",
		Default: "1", Least: 1, Most: MaxWorkers, Words: []string{"auto"},
		field: func(s *Settings) any { return &s.Workers }},
	{Flag: "concurrency", Variable: "PYPLUG_CONCURRENCY", Key: "concurrency", Commands: Keep, Rare: true,
		Help: "send a worker `N` calls at once", Default: "1", ServerDefault: "100", Least: 1, Most: MaxConcurrency,
		field: func(s *Settings) any { return &s.Concurrency }},
	{Flag: "threads", Commands: Keep, Rare: true, Only: pipe, Help: "run plain functions in threads, as many as --concurrency",
		field: func(s *Settings) any { return &s.Threads }},
	{Flag: "queue", Commands: Keep, Rare: true, Help: "let `N` calls wait for a worker", Default: "1000", Least: 1, Most: 10_000_000,
		field: func(s *Settings) any { return &s.Queue }},
	{Flag: "restart", Variable: "PYPLUG_RESTART", Key: "restart.policy", Commands: Keep, Rare: true,
		Help: "restart workers by `POLICY`", Default: Always, Words: []string{No, OnFailure, Always},
		field: func(s *Settings) any { return &s.Restart.Policy }},
	{Flag: "max-restarts", Key: "restart.max", Commands: Keep, Rare: true, Help: "give up after `N` failed starts and exits between calls in a row",
		Default: "0", Shown: "0; run --lines: 5", Most: 1_000_000, Zero: NoLimit,
		field: func(s *Settings) any { return &s.Restart.Max }},
	{Key: "restart.backoff", Help: "wait `DURATION` before the first restart, and twice as long before each further one",
		Default: "1s", Zero: int64(AtOnce),
		field: func(s *Settings) any { return &s.Restart.Backoff }},
	{Key: "restart.backoff-max", Help: "wait at most `DURATION` before a restart", Default: "60s", Zero: int64(AtOnce),
		field: func(s *Settings) any { return &s.Restart.BackoffMax }},
	{Key: "restart.healthy-after", Help: "reset the delay once a worker has been ready for `DURATION`", Default: "10s", Zero: int64(AtOnce),
		field: func(s *Settings) any { return &s.Restart.HealthyAfter }},
	{Flag: "max-memory", Variable: "PYPLUG_MAX_MEMORY", Key: "limits.memory", Commands: Keep,
		Help: "replace or kill workers that use more than `SIZE`, such as 512MB", Default: "0", Least: 1 << 20, Zero: NoLimit,
		field: func(s *Settings) any { return &s.Limits.Memory }},
	{Flag: "max-calls", Key: "limits.calls", Commands: Keep, Rare: true, Help: "replace workers after about `N` calls",
		Default: "0", Most: math.MaxInt32, Zero: NoLimit,
		field: func(s *Settings) any { return &s.Limits.Calls }},
	{Key: "limits.age", Help: "replace workers after about `DURATION`", Default: "0", Zero: NoLimit,
		field: func(s *Settings) any { return &s.Limits.Age }},
	{Flag: "preload", Variable: "PYPLUG_PRELOAD", Key: "preload", Commands: Keep, Rare: true,
		Help:    "fork workers from a preloaded process `WHEN`",
		Default: "auto", Shown: "auto, if that is safe", Words: []string{"off", "auto", "force"},
		field: func(s *Settings) any { return &s.Preload }},
	{Flag: "drain", Key: "drain", Commands: Background, Help: "accept calls for `DURATION` after SIGTERM, while /health fails",
		Shown: "5s with --listen", Zero: int64(AtOnce), Matters: ToStart,
		field: func(s *Settings) any { return &s.Drain }},
	{Flag: "watch", Commands: Background, Help: "restart the workers when the plugin's own files change", Matters: ToStart,
		field: func(s *Settings) any { return &s.Watch }},
	{Key: "probe", Help: "the hook that reports health", Shown: "health",
		field: func(s *Settings) any { return &s.Probe }},
	{Key: "bootstrap", Help: "calls after every start, tables with hook and args",
		field: func(s *Settings) any { return &s.Bootstrap }},
	{Key: "shutdown", Help: "calls before every stop, tables with hook and args",
		field: func(s *Settings) any { return &s.Shutdown }},

	{Key: "mcp.read-only", Help: "patterns of hooks that change nothing", field: func(s *Settings) any { return &s.MCP.ReadOnly }},
	{Key: "mcp.destructive", Help: "patterns of hooks that may destroy something", field: func(s *Settings) any { return &s.MCP.Destructive }},
	{Key: "mcp.idempotent", Help: "patterns of hooks that may be called again", field: func(s *Settings) any { return &s.MCP.Idempotent }},
	{Key: "mcp.open-world", Help: "patterns of hooks that reach beyond this machine", field: func(s *Settings) any { return &s.MCP.OpenWorld }},
	{Key: "mcp.output-schema", Help: "patterns of hooks whose tools have a schema of the result", field: func(s *Settings) any { return &s.MCP.OutputSchema }},

	{Flag: "arg", Key: "args", Commands: Start, Rare: true, Only: grpc, Help: "pass the plugin the argument `VALUE`", check: anyText,
		field: func(s *Settings) any { return &s.Args }},
	{Flag: "host", Key: "host", Commands: Start, Only: grpc, Decides: true, Words: slices.Sorted(maps.Keys(Hosts)),
		Help:  "start the plugin as `HOST` does",
		field: func(s *Settings) any { return &s.Host }},
	{Flag: "cookie", Key: "cookie", Commands: Start, Only: grpc, Decides: true, Secret: true, check: checkCookie,
		Help:  "set the magic cookie `KEY=VALUE`, as the plugin's host does",
		field: func(s *Settings) any { return &s.Cookie }},
	{Flag: "protocol-versions", Key: "protocol-versions", Commands: Start, Rare: true, Only: grpc, Decides: true, Most: math.MaxInt32,
		Help: "offer the protocol versions `LIST`, such as 1,2", Default: "1",
		field: func(s *Settings) any { return &s.ProtocolVersions }},
	{Flag: "mtls", Key: "mtls", Commands: Start, Rare: true, Only: grpc, Decides: true, Help: "secure the connection as go-plugin's AutoMTLS does",
		field: func(s *Settings) any { return &s.MTLS }},
	{Flag: "service", Commands: Start, Rare: true, Only: grpc, Help: "ask for the health of the service `NAME`",
		Shown: `"plugin"`,
		field: func(s *Settings) any { return &s.Service }},
	{Flag: "header", Letter: "H", Commands: Result, Only: grpc, Secret: true, check: checkHeader,
		Help:  "send the metadata `NAME=VALUE` or \"NAME: VALUE\"; base64 if the name ends in -bin",
		field: func(s *Settings) any { return &s.Header }},
	{Flag: "max-message", Commands: Start, Rare: true, Only: grpc, Help: "limit messages to `SIZE`, such as 16MB",
		Default: "64MB", Least: 1, Most: math.MaxInt32, // the limit of HTTP/2 framing in gRPC
		field: func(s *Settings) any { return &s.MaxMessage }},
	{Flag: "proto", Commands: Start, Only: grpc, File: true, Help: "read the plugin's methods from `FILE`, a *_pb2.py",
		field: func(s *Settings) any { return &s.Proto }},
	{Flag: "protoset", Commands: Start, Rare: true, Only: grpc, File: true,
		Help:  "read the plugin's methods from descriptors in `FILE`, as protoc -o writes it",
		field: func(s *Settings) any { return &s.Protoset }},
}

// MaxWorkers is the maximum number of workers of a plugin. MaxConcurrency is the maximum number of
// concurrent calls in one worker.
const (
	MaxWorkers     = 1024
	MaxConcurrency = 65536
)

// RowsOf returns the rows whose flag a group of commands has.
func RowsOf(group Commands) (rows []*Row) {
	for i := range Table {
		if Table[i].Commands == group {
			rows = append(rows, &Table[i])
		}
	}
	return rows
}

// ByFlag returns the row with a flag.
func ByFlag(flag string) *Row {
	i := slices.IndexFunc(Table, func(r Row) bool { return r.Flag == flag })
	return &Table[i]
}

// ByKey returns the row with a key of the manifest.
func ByKey(key string) *Row {
	i := slices.IndexFunc(Table, func(r Row) bool { return r.Key == key })
	return &Table[i]
}
