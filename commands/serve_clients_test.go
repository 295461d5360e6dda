//go:build linux

package commands_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// httpClients lists the programs that read /openapi.json, and the packages that the plugin imports.
var httpClients = []string{"schemathesis==4.32.5", "openapi-python-client==0.29.1", "pydantic==2.14.4"}

const httpHooks = "testdata/httpclients/zoo.py"

// clientCalls are made by a generated client, and by run --lines.
const clientCalls = `{"hook":"item","args":{"item":{"name":"a","due":"2026-01-31","parts":[{"name":"b","due":"2026-02-01","level":"high"}]}}}
{"hook":"item","args":{"item":{"name":"a","due":"2026-01-31"}}}
{"hook":"level","args":{"level":"high","rank":2,"mode":3}}
{"hook":"level","args":{"level":"low"}}
{"hook":"union","args":{"value":{"name":"a","due":"2026-01-31"},"other":"2026-02-01"}}
{"hook":"union","args":{"value":null,"other":[1,2]}}
{"hook":"dates","args":{"day":"2026-01-31","at":"2026-01-31T10:00:00+00:00","span":"PT1H"}}
{"hook":"numbers","args":{"whole":3,"part":2.5,"exact":"1.10","flag":true}}
{"hook":"account","args":{"account":{"id":1,"owner":"Ada","parent":{"id":2,"owner":"Bob","level":"high"}}}}
{"hook":"account","args":{"account":{"id":0,"owner":"Ada"}}}
{"hook":"total","args":{"numbers":[1,2.5]}}
{"hook":"options","args":{"first":"a","rest":[1,2],"flag":true,"more":"b"}}
{"hook":"size","args":{"data":"AAE="}}
{"hook":"double","args":{"data":"AAE="}}
{"hook":"later","args":{"words":["a","b"]}}
{"hook":"later","args":{}}
{"hook":"nested","args":{"table":{"a":[[1,"b"]]},"pair":{"first":"c"},"open":{"a":1},"unique":[2,1]}}
{"hook":"keyed","args":{"table":{"1":"low"}}}
{"hook":"divide","args":{"a":1,"b":4}}
{"hook":"divide","args":{"a":1,"b":0}}
{"hook":"nothing","args":{}}
{"hook":"untyped","args":{"a":{"b":[1]},"c":"d"}}
{"hook":"position","args":{"a":1}}
`

// TestHTTPClients serves hooks with annotations of many kinds to programs that only know
// /openapi.json. schemathesis makes calls of all kinds, and checks that the answers match the
// document. A generated client gets the same as `pyplug run`.
func TestHTTPClients(t *testing.T) {
	if os.Getenv("PYPLUG_TEST_LONG") == "" {
		t.Skip("runs with PYPLUG_TEST_LONG=1")
	}
	const token = "third-party"
	python := runnertest.Packages(t, httpClients...)
	bin, dir := filepath.Dir(python), t.TempDir()
	tokens := filepath.Join(dir, "token")
	if err := os.WriteFile(tokens, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveTCP(t, []string{"PYPLUG_PYTHON=" + python}, "--listen", "127.0.0.1:0", "--token-file", tokens, "--drain", "0", httpHooks)
	document := s.url + "/openapi.json"

	t.Run("schemathesis", func(t *testing.T) {
		config, err := filepath.Abs("testdata/httpclients/schemathesis.toml")
		if err != nil {
			t.Fatal(err)
		}
		test := exec.CommandContext(t.Context(), filepath.Join(bin, "schemathesis"), "--config-file", config, "run", document,
			"--header", "Authorization: Bearer "+token, "--max-examples", "50", "--seed", "1", "--continue-on-failure", "--no-color")
		test.Dir = dir // schemathesis stores its findings there
		out, err := test.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out[max(0, bytes.LastIndex(out, []byte("SUMMARY"))):])
	})

	t.Run("openapi-python-client", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(dir, "openapi.json"), get(t, document, token), 0o600); err != nil {
			t.Fatal(err)
		}
		generate := exec.CommandContext(t.Context(), filepath.Join(bin, "openapi-python-client"), "generate",
			"--path", "openapi.json", "--meta", "none", "--output-path", "zoo_client")
		generate.Dir, generate.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := generate.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if out, err := exec.Command(python, "-m", "compileall", "-q", filepath.Join(dir, "zoo_client")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		client := exec.CommandContext(t.Context(), python, "testdata/httpclients/client.py", s.url, token)
		client.Env, client.Stdin = append(os.Environ(), "PYTHONPATH="+dir), strings.NewReader(clientCalls)
		var errs bytes.Buffer
		client.Stderr = &errs
		got, err := client.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, &errs)
		}
		run := pyplug(t, []string{"PYPLUG_PYTHON=" + python}, "run", "--lines", "--no-fail", httpHooks)
		run.Stdin = strings.NewReader(clientCalls)
		if err := run.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &run.errs)
		}
		wantSameLines(t, strings.Split(clientCalls, "\n"), strings.Split(string(got), "\n"), strings.Split(run.out.String(), "\n"))
	})
}

// wantSameLines compares the answers of a client with those of run. Over TCP, errors have no
// traceback.
func wantSameLines(t *testing.T, calls, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d: %q", len(got), len(want), got)
	}
	for i, line := range got[:len(got)-1] {
		var one, other map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want[i]), &other); err != nil {
			t.Fatal(err)
		}
		delete(other, "id")
		if failed, ok := other["error"].(map[string]any); ok {
			other["error"] = failed["message"]
		}
		if !reflect.DeepEqual(one, other) {
			t.Errorf("%s gives %s, run gives %s", calls[i], line, want[i])
		}
	}
}

// get returns the answer of a server.
func get(t *testing.T, url, token string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s gives %d, %v: %s", url, resp.StatusCode, err, text)
	}
	return text
}
