package pysrc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedFiles compares the descriptors of files by many protoc versions with those that
// Python's own protobuf reads.
func TestGeneratedFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/pb2/*/*_pb2.py")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		want, err := os.ReadFile(filepath.Join("testdata/pb2", strings.TrimSuffix(filepath.Base(path), "_pb2.py")+".binpb"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Descriptors(read(t, path))
		if err != nil || len(got) != 1 || !bytes.Equal(got[0], want) {
			t.Errorf("%s: %d descriptors, %v", path, len(got), err)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Decode(source)
}

func TestDescriptors(t *testing.T) {
	for _, c := range []struct{ name, text, want, fail string }{
		{"none", "import os\n", "", ""},
		{"pool", `D = _descriptor_pool.Default().AddSerializedFile(b'\n\x03kv')`, "\n\x03kv", ""},
		{"own line, other quotes", "D = pool.AddSerializedFile(\n    b\"\\n'\\x03\"\n)\n", "\n'\x03", ""},
		{"within parentheses", "AddSerializedFile((b'a'\n  b'b'))", "ab", ""},
		{"concatenated, a comment between", "AddSerializedFile(b'a'  # one\n  br'\\n' b'''c''')", `a\nc`, ""},
		{"file descriptor", "FileDescriptor(name='x', create_key=k, serialized_pb=b'abc', options=None)", "abc", ""},
		{"latin-1", `FileDescriptor(serialized_pb=_b('\n\xff\303'))`, "\n\xff\303", ""},
		{"python 2", `FileDescriptor(serialized_pb='\n\xff')`, "\n\xff", ""},
		{"two", "AddSerializedFile(b'a')\nAddSerializedFile(b'b')", "a,b", ""},
		{"the same twice", "if c:\n  D = FileDescriptor(serialized_pb=b'a')\nelse:\n  D = AddSerializedFile(b'a')\n", "a", ""},
		{"options are none", "d._options = _descriptor._ParseOptions(o, _b('8\\001'))\nserialized_options=b'x'\n", "", ""},
		{"in a string", "s = \"AddSerializedFile(b'a')\"\n# AddSerializedFile(b'a')\n", "", ""},
		{"its definition", "def AddSerializedFile(self, serialized_pb=None):\n  pass\n", "", ""},
		{"no literal", "AddSerializedFile(data)\nFileDescriptor(serialized_pb=f.SerializeToString())", "", ""},
		{"empty", "AddSerializedFile(b'')", "", ""},
		{"bad digits", "\nAddSerializedFile(b'\\xg0')", "", "line 2: a descriptor that cannot be read, expected bytes as protoc writes them"},
		{"not latin-1", `AddSerializedFile(_b('\u20ac'))`, "", "line 1: a descriptor that cannot be read, expected bytes as protoc writes them"},
		{"a character above latin-1", `AddSerializedFile(_b('€'))`, "", "line 1: a descriptor that cannot be read, expected bytes as protoc writes them"},
		{"not closed", "AddSerializedFile(b'abc", "", "line 1: a descriptor that cannot be read, expected bytes as protoc writes them"},
		{"not constant", "AddSerializedFile(f'abc')", "", "line 1: a descriptor that cannot be read, expected bytes as protoc writes them"},
		{"the good before the bad", "AddSerializedFile(b'a')\nAddSerializedFile(b'\\x')", "a", "line 2: a descriptor that cannot be read, expected bytes as protoc writes them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Descriptors(c.text)
			fail := ""
			if err != nil {
				fail = err.Error()
			}
			if joined := string(bytes.Join(got, []byte(","))); joined != c.want || fail != c.fail {
				t.Errorf("got %q, %q; want %q, %q", joined, fail, c.want, c.fail)
			}
		})
	}
}

// parts are the parts of random literals.
var parts = []string{
	`\n`, `\t`, `\r`, `\a`, `\b`, `\f`, `\v`, `\\`, `\'`, `\"`, `\x00`, `\xfF`, `\x4`, `\0`, `\7`, `\12`, `\012`, `\377`,
	`\400`, `\777`, `\8`, `\q`, "\\\n", "\n", `a`, `0`, ` `, `{`, `#`, `'`, `"`,
}

const evaluate = `
import ast, json, sys, warnings
warnings.simplefilter("ignore")
for line in sys.stdin:
    try:
        value = ast.literal_eval(json.loads(line))
        if isinstance(value, str):
            value = value.encode("latin-1")
        print(value.hex() + ".")
    except (SyntaxError, ValueError):
        print("error")
`

// TestLiteralsAgainstPython checks that random literals are read as Python reads them, or rejected.
func TestLiteralsAgainstPython(t *testing.T) {
	python := findPython(t)
	random := rand.New(rand.NewPCG(1, 2))
	var literals []string
	var input bytes.Buffer
	for range 4000 {
		mark := []string{`'`, `"`, `'''`, `"""`}[random.IntN(4)]
		text := []string{"", "b", "B", "r", "br", "Rb", "u"}[random.IntN(7)] + mark
		for range random.IntN(6) {
			text += parts[random.IntN(len(parts))]
		}
		text += mark
		literals = append(literals, text)
		line, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(line, '\n'))
	}
	good := 0
	for i, answer := range ask(t, python, input.Bytes(), "-c", evaluate) {
		data, ok := whole(literals[i])
		if !ok {
			continue
		}
		if got := fmt.Sprintf("%x.", data); got != string(answer) {
			t.Errorf("%q: got %s, want %s", literals[i], got, answer)
		}
		good++
	}
	if good < 500 {
		t.Errorf("only %d good ones", good)
	}
}

// whole reads a text that consists of one expression of literals.
func whole(text string) ([]byte, bool) {
	var all []literal
	code := render(text, func(l literal) string {
		all = append(all, l)
		return marker
	})
	if strings.Trim(code, marker+" ") != "" || len(all) == 0 {
		return nil, false
	}
	var data []byte
	for _, l := range all {
		if strings.ContainsAny(l.prefix, "bB") != strings.ContainsAny(all[0].prefix, "bB") {
			return nil, false
		}
		var ok bool
		if data, ok = l.appendTo(data); !ok {
			return nil, false
		}
	}
	return data, true
}

func FuzzLiteral(f *testing.F) {
	for _, part := range parts {
		f.Add("b'" + part + "'")
		f.Add("AddSerializedFile(_b(\"\"\"" + part + "\"\"\" '" + part + "'))")
	}
	f.Add("AddSerializedFile(" + marker)
	f.Fuzz(func(t *testing.T, text string) {
		data, ok := whole(text)
		if ok && len(data) > len(text) {
			t.Errorf("%d bytes from %d", len(data), len(text))
		}
		found, _ := Descriptors(text)
		if total := len(bytes.Join(found, nil)); total > len(text) {
			t.Errorf("%d bytes from %d", total, len(text))
		}
	})
}

// BenchmarkDescriptors reads 50 files by many protoc versions from their bytes.
func BenchmarkDescriptors(b *testing.B) {
	files, err := filepath.Glob("testdata/pb2/*/*_pb2.py")
	if err != nil || len(files) == 0 {
		b.Fatal(err)
	}
	var sources [][]byte
	size := 0
	for i := range 50 {
		source, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			b.Fatal(err)
		}
		sources = append(sources, source)
		size += len(source)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, source := range sources {
			if found, err := Descriptors(Decode(source)); err != nil || len(found) != 1 {
				b.Fatal(len(found), err)
			}
		}
	}
}
