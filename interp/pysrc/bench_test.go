package pysrc

import (
	"path/filepath"
	"testing"
)

// BenchmarkImports scans the largest of the generated files.
func BenchmarkImports(b *testing.B) {
	text := read(b, filepath.Join("testdata", "pb2", "3.14", "shapes_pb2.py"))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if found := Imports(text); len(found) != 9 {
			b.Fatal(len(found))
		}
	}
}
