package pysrc

import (
	"os"
	"testing"
)

func TestCookie(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"get", `if os.environ.get("ZOO_COOKIE") != "monkey": sys.exit(1)`, "ZOO_COOKIE=monkey"},
		{"get with a default", `if os.environ.get("ZOO_COOKIE", "") != "monkey": sys.exit(1)`, "ZOO_COOKIE=monkey"},
		{"an index", `if os.environ['ZOO_COOKIE'] == 'monkey': serve()`, "ZOO_COOKIE=monkey"},
		{"reversed", `assert "monkey" == os.getenv("ZOO_COOKIE")`, "ZOO_COOKIE=monkey"},
		{"imported", "from os import environ\nif environ.get(\n  'ZOO_COOKIE',\n) != 'monkey': raise", "ZOO_COOKIE=monkey"},
		{"through a variable", "value: str = os.environ.get('ZOO_COOKIE')\nif value != 'monkey': raise", "ZOO_COOKIE=monkey"},
		{"walrus", "if (value := os.getenv('ZOO_COOKIE')) and value == 'monkey': serve()", "ZOO_COOKIE=monkey"},
		{"constants", "KEY = 'ZOO'\nVALUE = 'monkey'\nif os.environ.get(KEY) != VALUE: raise", "ZOO=monkey"},
		{"constants of a class", "class Magic:\n  KEY = 'ZOO'\n  VALUE = 'monkey'\nif os.getenv(Magic.KEY) != Magic.VALUE: raise", "ZOO=monkey"},
		{"with quotes in it", `if os.environ.get("ZOO_COOKIE") != 'say "hi"': sys.exit(1)`, `ZOO_COOKIE=say "hi"`},
		{"another name", `if os.environ.get("BASIC_PLUGIN") != "hello": sys.exit(1)`, "BASIC_PLUGIN=hello"},
		{"the cookie among others", "if os.getenv('MODE') != 'x': a()\nif os.getenv('A_COOKIE') == 'y': b()\nif os.getenv('C') != 'z': c()", "A_COOKIE=y"},
		{"arguments", `serve(magic_cookie_key="ZOO", magic_cookie_value="monkey")`, "ZOO=monkey"},
		{"arguments, shorter", `configure(magic_cookie_key="ZOO", magic_cookie="monkey")`, "ZOO=monkey"},
		{"a dictionary", `c = {"MagicCookieKey": "ZOO", "MagicCookieValue": "monkey"}`, "ZOO=monkey"},
		{"names", "_MAGIC_COOKIE_KEY: str = 'ZOO'\n_MAGIC_COOKIE_VALUE = 'monkey'", "ZOO=monkey"},

		{"only the key", "if not os.environ.get('ZOO_COOKIE'): raise\nCOOKIE_KEY = 'ZOO'", "="},
		{"a value that is computed", "if os.environ.get('ZOO_COOKIE') != f'{name}': raise", "="},
		{"a variable of another program", "if os.environ.get('MODE') == 'debug': log()", "="},
		{"a comment", "# os.environ.get('ZOO_COOKIE') != 'monkey'\n'''\nos.environ.get('ZOO_COOKIE') != 'monkey'\n'''", "="},
		{"unknown names", "if os.environ.get(key) != value: raise\nif os.environ.get('ZOO_COOKIE') != value: raise", "="},
	} {
		t.Run(c.name, func(t *testing.T) {
			if key, value := Cookie([]File{Parse("", c.text)}); key+"="+value != c.want {
				t.Errorf("got %s=%s, want %s", key, value, c.want)
			}
		})
	}
	split := []File{Parse("", "import config\nif os.getenv(config.KEY) != config.VALUE: raise"), Parse("", "KEY = 'ZOO'\nVALUE = 'monkey'")}
	if key, value := Cookie(split); key != "ZOO" || value != "monkey" {
		t.Errorf("in two files: got %s=%s", key, value)
	}
	for _, name := range []string{"zoo", "good", "quirks"} {
		text, err := os.ReadFile("../../testdata/plugins/grpc/" + name + ".py")
		if err != nil {
			t.Fatal(err)
		}
		if key, value := Cookie([]File{Parse("", string(text))}); key != "ZOO_COOKIE" || value != "monkey" {
			t.Errorf("%s: got %s=%s", name, key, value)
		}
	}
}
