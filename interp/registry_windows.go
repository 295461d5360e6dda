package interp

import (
	"path/filepath"

	"golang.org/x/sys/windows/registry"
)

// readRegistry lists what PEP 514 names: the user's Pythons, then the machine's of 64 and of 32 bits.
func readRegistry() (all []registration) {
	const root = `Software\Python`
	for _, place := range [...]struct {
		key  registry.Key
		view uint32
	}{
		{registry.CURRENT_USER, 0}, {registry.LOCAL_MACHINE, registry.WOW64_64KEY}, {registry.LOCAL_MACHINE, registry.WOW64_32KEY},
	} {
		for _, company := range subkeys(place.key, root, place.view) {
			for _, tag := range subkeys(place.key, root+`\`+company, place.view) {
				r := registration{company: company, tag: tag}
				r.path = programOf(place.key, root+`\`+company+`\`+tag+`\InstallPath`, place.view)
				all = append(all, r)
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

// programOf is the program of an entry: ExecutablePath, or python.exe in the directory that is
// the entry's own value.
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
