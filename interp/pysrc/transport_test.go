package pysrc

import "testing"

// show returns one letter for each thing that a file does.
func (s Serves) show() string {
	text := ""
	if s.ImportsGRPC {
		text += "G"
	}
	if s.PrintsHandshake {
		text += "P"
	}
	if s.StartsServer {
		text += "S"
	}
	if s.SDK != "" {
		text += " " + s.SDK
	}
	return text
}

// TestServes checks the facts about plugins of every kind, and about other files.
func TestServes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "import os\ndef greet(name): return name\n", ""},
		{"the usual", "import grpc\ns = grpc.server(pool)\nprint('1|1|tcp|127.0.0.1:1234|grpc', flush=True)", "GPS"},

		{"an f-string", "print(f\"1|{v}|tcp|127.0.0.1:{port}|grpc\\n\")", "P"},
		{"constants in an f-string", "P = 'grpc'\nprint(f'{CORE}|{APP}|{NETWORK}|{address}|{P}')", "P"},
		{"a number first", "P = 'grpc'\nprint(f'1|{APP}|{NETWORK}|{address}|{P}')", "P"},
		{"a format", "print('1|1|%s|%s|grpc' % (n, a))\n", "P"},
		{"by name", "print('1|1|%(network)s|%(address)s|grpc' % d)\n", "P"},
		{"another format", "print('{}|{}|{}|{}|{}'.format(1, 1, n, a, 'grpc'))\n", "P"},
		{"fields by name", "print('{core}|{app}|{net}|{addr}|{p}'.format(core=1, app=1, net=n, addr=a, p='grpc'))\n", "P"},
		{"a template", "print(string.Template('1|1|tcp|$address|grpc').substitute(address=a))\n", "P"},
		{"joined", "x = '|'.join(['1', '1', 'unix', path, \"grpc\"])", "P"},
		{"joined, whatever the network", "x = '|'.join(map(str, (1, 1, network, address, 'grpc')))", "P"},
		{"a list that is joined", "x = [1, 1, 'tcp', address, 'grpc']\nprint('|'.join(map(str, x)))", "P"},
		{"values that are joined", "x = dict(n='tcp', p='grpc')\nprint('|'.join(x.values()))", "P"},
		{"by a constant", "BAR = '|'\nx = BAR.join(('1', '1', 'tcp', a, 'grpc'))", "P"},
		{"separated", "print(1, 1, 'tcp', address, 'grpc', sep='|', flush=True)", "P"},
		{"separated, a list", "print(*[1, 1, 'tcp', address, 'grpc'], sep = '|')", "P"},
		{"written", "sys.stdout.write('1|1|tcp|' + address + '|grpc\\n')", "P"},
		{"bytes", "os.write(1, b'1|1|tcp|127.0.0.1:%d|grpc\\n' % port)", "P"},
		{"bytes that are joined", "os.write(1, b'|'.join([b'1', b'1', b'tcp', address, b'grpc']) + b'\\n')", "P"},
		{"a sum", "x = '1|1' + '|tcp|127.0.0.1:' + str(port) + '|grpc'", "P"},
		{"the end of a sum", "x = CORE + '|' + network + '|' + address + '|grpc\\n'", "P"},
		{"its start", "x = f'1|{v}|' + network + BAR + address + BAR + 'grpc'", "P"},
		{"a sum with each bar", "x = str(1) + '|' + v + '|' + n + '|' + a + '|' + 'grpc'", "P"},
		{"side by side", "x = (f'1|{v}|' # core, app\n  'tcp|'\n  f'{address}|grpc')", "P"},
		{"three quotes", "print('''1|1|tcp|{}|grpc\n'''.format(a))", "P"},
		{"with a certificate", "x = f'1|6|tcp|127.0.0.1:{port}|grpc|{cert}'", "P"},
		{"a sum with a certificate", "x = f'1|6|{n}|' + address + f'|grpc|{cert}'", "P"},

		{"any fields", "row = f'{a}|{b}|{c}|{d}|{e}'\n", ""},
		{"split by bars", "x = line.split('|'); y = 'grpc', 'tcp'\nif c == '|' or c != '|': pass", ""},
		{"in a docstring", "'''\n1|1|tcp|127.0.0.1:1|grpc\n'''\ndef f():\n  '1|1|tcp|x|grpc'; '1|1|tcp|x|grpc'\n# '1|1|tcp|x|grpc'", ""},
		{"in a text", "x = 'want a line such as 1|1|tcp|127.0.0.1:1|grpc'\n", ""},
		{"a table", "x = '1|2|3|4|5'\ny = '1|one|tcp and udp|both|grpc'\n", ""},
		{"a pattern", "x = re.compile('(http|grpc)://'), 'a|b', 'tcp|unix', 'grpc'\n", ""},
		{"types", "def f(a: int | None, b: 'grpc' | 'tcp') -> str | None: ...\n", ""},

		{"a client", "import grpc\nc = grpc.insecure_channel('x')", "G"},
		{"from it", "from grpc import aio\n", "G"},
		{"one of it", "import os, grpc.aio as g\n", "G"},
		{"grpclib", "if x: from grpclib.server import Server\n", "GS"},
		{"a server by another name", "import grpc as g\ns = g.server(pool)\n", "GS"},
		{"an asynchronous server", "from grpc.aio import server\n", "GS"},
		{"a server of something else", "s = http.server(pool)\n# grpc.server(pool)\n", ""},
		{"lazily", "def f():\n  lazy import grpc; pass", "G"},
		{"after another", "import os; import grpc", "G"},
		{"betterproto", "import betterproto.lib\n", "G"},
		{"an SDK", "from tf import runner, types\n", " tf.runner"},
		{"a module of one", "import os, pyvider.rpcplugin.server as s\n", " pyvider.rpcplugin"},
		{"its name", "from pyplugin import serve\n", " pyplugin"},
		{"not an SDK", "import tf\nfrom .funppy import serve\nfrom a import funppy\nimport pyplugins\n", ""},
		{"another grpc", "from .grpc import server\nimport a.grpc, b as grpc\nfrom a import b, grpc\nraise a from grpc\n", ""},
		{"no import", "x = importer, grpc\nimport os; y = x, grpc\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if h := ServesOf([]File{Parse("", c.text)}); h.show() != c.want {
				t.Errorf("got %q, want %q", h.show(), c.want)
			}
		})
	}
}

// TestShared checks that the parts of a handshake line may be in different files of one plugin.
func TestShared(t *testing.T) {
	const parts = "CORE, NETWORK, PROTOCOL = 1, 'tcp', 'grpc'\n"
	constants := Parse("constants.py", parts)
	for name, text := range map[string]string{
		"an f-string": "print(f'{CORE}|{APP}|{NETWORK}|{address}|{PROTOCOL}')",
		"joined":      "print('|'.join([str(CORE), APP, NETWORK, address, PROTOCOL]))",
		"separated":   "print(CORE, APP, NETWORK, address, PROTOCOL, sep='|')",
		"a sum":       "print(str(CORE) + '|' + APP + '|' + NETWORK + '|' + address + '|' + PROTOCOL)",
	} {
		t.Run(name, func(t *testing.T) {
			joins := Parse("joins.py", text)
			for _, files := range [][]File{{joins}, {constants}} {
				if ServesOf(files).PrintsHandshake {
					t.Error("a part is taken for the whole")
				}
			}
			for _, files := range [][]File{{joins, constants}, {constants, joins}} {
				if s := ServesOf(files); !s.PrintsHandshake || s.Printer != files[1].Path {
					t.Errorf("the whole is not seen, but %+v", s)
				}
			}
		})
	}
}

// TestMCPServer checks that only an object at module level makes a file a server. Text and comments
// do not.
func TestMCPServer(t *testing.T) {
	for source, want := range map[string]string{
		"mcp = FastMCP('demo')":                          "mcp FastMCP",
		"app: server.MCPServer = mcp.server.MCPServer()": "app MCPServer",
		"mcp = FastMCP(\n    name='demo',\n)":            "mcp FastMCP",
		"\"\"\"As\n\nmcp = FastMCP('demo')\n\"\"\"":      " ",
		"# mcp = FastMCP('demo')":                        " ",
		"def make():\n    mcp = FastMCP('demo')":         " ",
		"from fastmcp import FastMCP":                    " ",
	} {
		name, class := Parse("x.py", source).MCPServer()
		if got := name + " " + class; got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
