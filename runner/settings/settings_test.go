package settings

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestTable checks the properties of each row.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	fields := map[any]bool{}
	var s Settings
	for i := range Table {
		row := &Table[i]
		name := row.Name()
		if fields[row.field(&s)] {
			t.Errorf("%s: another row has its field", name)
		}
		fields[row.field(&s)] = true
		for _, name := range []string{"--" + row.Flag, "-" + row.Letter, "$" + row.Variable, row.Key} {
			if len(name) > 2 && names[name] {
				t.Errorf("%s: another row has it", name)
			}
			names[name] = true
		}
		if (row.Flag == "") != (row.Commands == NoCommand) || row.Variable != "" && row.Flag == "" || row.Flag+row.Key == "" {
			t.Errorf("%s: a flag, its commands or its variable is missing", name)
		}
		if row.Flag != "" && !row.IsSwitch() && strings.Count(row.Help, "`") != 2 {
			t.Errorf("%s: no placeholder in %q", name, row.Help)
		}
	}
	if got := countFields(reflect.TypeFor[Settings]()); got != len(Table) {
		t.Errorf("%d settings have %d rows", got, len(Table))
	}
	Defaults() // panics if a default is not valid
	ServerDefaults()
}

// countFields counts the fields of a struct, including those of the structs in it.
func countFields(in reflect.Type) (n int) {
	for i := range in.NumField() {
		if field := in.Field(i); field.Type.Kind() == reflect.Struct {
			n += countFields(field.Type)
		} else {
			n++
		}
	}
	return n
}

// TestChanged checks that changed settings are in the form of flags, without the values of secrets.
func TestChanged(t *testing.T) {
	for _, c := range []struct {
		transport string
		set       func(s *Settings)
		want      map[string]string
	}{
		{pipe, func(*Settings) {}, map[string]string{}},
		{grpc, func(s *Settings) { *s = Resolve(ServerDefaults(), *s) }, map[string]string{}},
		{pipe, func(s *Settings) {
			s.Workers, s.Limits.Memory, s.Watch, s.Env = 4, 100<<20, On, []string{"TOKEN=abc", "B="}
			s.Timeouts.Call, s.Restart.BackoffMax, s.Limits.Calls = Forever, AtOnce, NoLimit
			s.Bootstrap = []hook.Call{{Hook: "a"}, {Hook: "b"}}
		}, map[string]string{"workers": "4", "max-memory": "100MB", "watch": "true", "env": "TOKEN=… B=…", "timeout": "0",
			"restart.backoff-max": "0", "bootstrap": "a b"}},
		{pipe, func(s *Settings) { s.Timeouts.Call, s.Limits.Age = time.Minute, 36*time.Hour }, map[string]string{"timeout": "1m0s", "limits.age": "36h0m0s"}},
		{grpc, func(s *Settings) {
			*s = Resolve(ServerDefaults(), *s)
			s.Cookie, s.Header, s.ProtocolVersions, s.MaxMessage = "KEY=secret", []string{"authorization: Bearer x"}, []int{5, 6}, 1000
		}, map[string]string{"cookie": "KEY=…", "header": "authorization:…", "protocol-versions": "5,6", "max-message": "1000"}},
	} {
		s := Defaults()
		s.Transport = c.transport
		c.set(&s)
		if got := s.Changed(); !maps.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}

// TestSet checks that flags, variables and keys of a manifest accept the same values.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       any // the stored value, or the error
	}{
		{"workers", "4", 4},
		{"workers", "auto", Auto},
		{"workers", "0", "expected a number from 1 to 1024, or auto"},
		{"workers", "1025", "expected a number from 1 to 1024, or auto"},
		{"max-calls", "0", NoLimit},
		{"max-calls", "-1", "expected a number from 0 to 2147483647"},
		{"max-memory", "1.5G", int64(3 << 29)},
		{"max-memory", "0", int64(NoLimit)},
		{"max-memory", "1023K", "expected a size such as 512MB, at least 1MB, 0 for no limit"},
		{"max-memory", "99999999T", "expected a size such as 512MB, at least 1MB, 0 for no limit"},
		{"max-message", "0", "expected a size such as 512MB"},
		{"max-message", "3GB", "expected a size such as 512MB"},
		{"timeout", "1m30s", 90 * time.Second},
		{"timeout", "1.5", 1500 * time.Millisecond},
		{"timeout", "0", Forever},
		{"timeout", "-1", "expected a duration such as 30s, 2m or a number of seconds"},
		{"timeout", "2 minutes", "expected a duration such as 30s, 2m or a number of seconds"},
		{"restart.backoff", "0", AtOnce},
		{"limits.age", "0", time.Duration(NoLimit)},
		{"restart", "no", No},
		{"restart", "never", "expected no, on-failure or always"},
		{"mtls", "false", Off},
		{"mtls", "yes", "expected true or false"},
		{"cookie", "K=", "K="},
		{"cookie", "=V", "expected KEY=VALUE"},
		{"service", "", "is empty, expected a name"},
		{"service", "a\x00", "expected a text without a zero byte"},
	} {
		row := Table[slices.IndexFunc(Table, func(r Row) bool { return r.Name() == c.name })]
		for _, decode := range []bool{false, true} {
			if decode && row.Key == "" {
				continue
			}
			var s Settings
			err := row.Set(&s, c.text)
			if m := row.decode(&s, c.text); decode && m != nil {
				err = errors.New(m.Text)
			}
			wanted, _ := c.want.(string)
			if got := row.value(&s).Interface(); err == nil && got != c.want || err != nil && (wanted == "" || !strings.Contains(err.Error(), wanted)) {
				t.Errorf("%s %q, decoded %v: got %v, %v; want %v", c.name, c.text, decode, got, err, c.want)
			}
		}
	}
}

// TestResolve checks that earlier sources take precedence, and that lists are concatenated.
func TestResolve(t *testing.T) {
	flags := Settings{Workers: 2, MTLS: Off, Args: []string{"b"}, Cookie: "K="}
	manifest := Settings{Workers: 3, MTLS: On, Args: []string{"a"}, Cookie: "K=V", Preload: "off", MCP: MCP{Destructive: []string{}}}
	want := Settings{Workers: 2, MTLS: Off, Args: []string{"a", "b"}, Cookie: "K=", Preload: "off", MCP: MCP{Destructive: []string{}}, Queue: 7}
	if got := Resolve(flags, manifest, Settings{Preload: "auto", Queue: 7}); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	if !slices.Equal(manifest.Args, []string{"a"}) {
		t.Errorf("the source has changed: %q", manifest.Args)
	}
}

// TestDigest checks that every setting of a start affects the digest, except those that only say
// which plugin starts.
func TestDigest(t *testing.T) {
	calls, rest := Settings{}.Digest()
	for i := range Table {
		row := &Table[i]
		var s Settings
		switch to := row.value(&s); to.Kind() {
		case reflect.Slice:
			to.Set(reflect.MakeSlice(to.Type(), 1, 1))
		case reflect.String:
			to.SetString("x")
		default:
			to.SetInt(1)
		}
		nowCalls, nowRest := s.Digest()
		if (nowCalls != calls) != (row.Matters == ToAll) || (nowRest != rest) != (row.Matters == ToStart) {
			t.Errorf("%s: the digest %s.%s becomes %s.%s", row.Name(), calls, rest, nowCalls, nowRest)
		}
	}
	with := func(args string) Settings {
		return Settings{Bootstrap: []hook.Call{{Hook: "a", Args: hook.Args{JSON: []byte(args)}}}}
	}
	one, _ := with(`[1]`).Digest()
	again, _ := with(`[1]`).Digest()
	two, _ := with(`[2]`).Digest()
	if one != again || one == two {
		t.Errorf("the digests of bootstrap calls are %s, %s and %s", one, again, two)
	}
}

// TestUsage checks that the help says what 0 means and what the default is, even if the command has
// its own default.
func TestUsage(t *testing.T) {
	mcp := &Settings{Concurrency: 8, Timeouts: Timeouts{Stop: 300 * time.Millisecond, Start: time.Minute}}
	for _, c := range []struct {
		flag  string
		usual *Settings
		want  string
	}{
		{"timeout", mcp, "limit a call to `DURATION`, 0 for no limit (default: 2m)"},
		{"stop-timeout", mcp, "kill a plugin that has not ended after `DURATION`, 0 for no limit (default: 300ms)"},
		{"start-timeout", mcp, "limit the import or the handshake to `DURATION`, 0 for no limit (default: 1m; a gRPC plugin: 30s)"},
		{"concurrency", mcp, "send a worker `N` calls at once (default: 8; a gRPC plugin: 100)"},
		{"max-calls", mcp, "replace workers after about `N` calls, 0 for no limit (the default)"},
		{"transport", mcp, "connect to the plugin over `TRANSPORT`: pipe or grpc (default: detected)"},
		{"mtls", mcp, "secure the connection as go-plugin's AutoMTLS does"},
	} {
		if got := ByFlag(c.flag).Usage(c.usual); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
