package interp

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

// reparsePoint is one with texts.
func reparsePoint(tag uint32, texts string) []byte {
	point := binary.LittleEndian.AppendUint32(nil, tag)
	point = append(point, 0, 0, 0, 0, 3, 0, 0, 0)
	for _, unit := range utf16.Encode([]rune(texts)) {
		point = binary.LittleEndian.AppendUint16(point, unit)
	}
	return point
}

// The aliases of Microsoft's store are told apart by what they start. Row 23.
func TestAlias(t *testing.T) {
	const apps = `C:\Program Files\WindowsApps\`
	const stub = "Microsoft.DesktopAppInstaller_8wekyb3d8bbwe\x00Microsoft.DesktopAppInstaller_8wekyb3d8bbwe!PythonRedirector\x00" +
		apps + `Microsoft.DesktopAppInstaller_1.22.10861.0_x64__8wekyb3d8bbwe\AppInstallerPythonRedirector.exe` + "\x000\x00"
	const real = "PythonSoftwareFoundation.Python.3.11_qbz5n2kfra8p0\x00PythonSoftwareFoundation.Python.3.11_qbz5n2kfra8p0!Python\x00" +
		apps + `PythonSoftwareFoundation.Python.3.11_3.11.2544.0_x64__qbz5n2kfra8p0\python3.11.exe` + "\x000\x00"
	const fromPath = "opt/bin/python3 3.12.4 PATH"
	for _, c := range []struct {
		row
		point []byte
	}{
		{row{findCase{name: "of Windows itself", want: fromPath}, StoreStub, ""}, reparsePoint(aliasTag, stub)},
		{row{findCase{name: "of a Python", want: "a/python3 3.11 PATH"}, "", ""}, reparsePoint(aliasTag, real)},
		{row{findCase{name: "of a Python of another version", requires: []string{">=3.12 p.py"}, want: fromPath}, OtherVersion, ""}, reparsePoint(aliasTag, real)},
		{row{findCase{name: "without a program", want: fromPath}, StoreStub, ""}, reparsePoint(aliasTag, "x")},
		{row{findCase{name: "cut off", want: "a/python3 3.13 PATH"}, "", ""}, reparsePoint(aliasTag, "")[:7]},
		{row{findCase{name: "another reparse point", want: "a/python3 3.13 PATH"}, "", ""}, reparsePoint(0xa000000c, real)},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.tree = lines(base("opt"), []string{"x a/python3.13", "l a/python3 python3.13"})
			root := c.make(t)
			c.environ = []string{"PATH=$ROOT/a:$ROOT/opt/bin"}
			request := c.request(root)
			request.reparse = func(path string) []byte {
				if path == root+"/a/python3" {
					return c.point
				}
				return nil
			}
			found, err := Find(t.Context(), request)
			c.compare(t, root, found, err)
		})
	}
}
