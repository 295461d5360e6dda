package interp

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// readRegistry returns the programs of the entries that PEP 514 defines, without the launcher's:
// the user's, then the machine's of 64 and of 32 bits.
func readRegistry() (all []string) {
	const root = `Software\Python`
	for _, place := range [...]struct {
		key  registry.Key
		view uint32
	}{
		{registry.CURRENT_USER, 0}, {registry.LOCAL_MACHINE, registry.WOW64_64KEY}, {registry.LOCAL_MACHINE, registry.WOW64_32KEY},
	} {
		for _, company := range subkeys(place.key, root, place.view) {
			for _, tag := range subkeys(place.key, root+`\`+company, place.view) {
				path := programOf(place.key, root+`\`+company+`\`+tag+`\InstallPath`, place.view)
				if company != "PyLauncher" && path != "" {
					all = append(all, path)
				}
			}
		}
	}
	return all
}

func subkeys(key registry.Key, path string, view uint32) []string {
	k, err := registry.OpenKey(key, path, registry.ENUMERATE_SUB_KEYS|view)
	if err != nil {
		return nil
	}
	defer k.Close()
	names, _ := k.ReadSubKeyNames(-1) // those that were read count
	return names
}

// programOf returns the program of an entry: ExecutablePath, or python.exe in the directory that
// is the entry's default value.
func programOf(key registry.Key, path string, view uint32) string {
	k, err := registry.OpenKey(key, path, registry.QUERY_VALUE|view)
	if err != nil {
		return ""
	}
	defer k.Close()
	if program, _, err := k.GetStringValue("ExecutablePath"); err == nil && program != "" {
		return program
	}
	dir, _, err := k.GetStringValue("")
	if err != nil || dir == "" {
		return ""
	}
	return filepath.Join(dir, "python.exe")
}

// readReparse returns the reparse point at path, or nil.
func readReparse(path string) []byte {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil
	}
	const flags = windows.FILE_FLAG_OPEN_REPARSE_POINT | windows.FILE_FLAG_BACKUP_SEMANTICS
	file, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(file)
	point := make([]byte, windows.MAXIMUM_REPARSE_DATA_BUFFER_SIZE)
	var n uint32
	if err := windows.DeviceIoControl(file, windows.FSCTL_GET_REPARSE_POINT, nil, 0, &point[0], uint32(len(point)), &n, nil); err != nil {
		return nil
	}
	return point[:n]
}

// ownerOf returns this user: access lists decide on Windows, and pyplug does not read them.
func ownerOf(path string) (owner, bool) {
	_, err := os.Stat(path)
	return owner{uid: os.Getuid()}, err == nil
}
