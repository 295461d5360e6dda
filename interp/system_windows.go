package interp

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/windows/registry"
)

// registered lists the directories of the Pythons in the registry (PEP 514), the newest of each
// company first. Those of this user come before those of the machine.
func registered() (dirs []string) {
	for _, root := range []registry.Key{registry.CURRENT_USER, registry.LOCAL_MACHINE} {
		for _, view := range []uint32{registry.WOW64_64KEY, registry.WOW64_32KEY} {
			companies := subkeys(root, `Software\Python`, view)
			slices.SortStableFunc(companies, func(a, b string) int { // put python.org's Pythons first
				return order(b == "PythonCore") - order(a == "PythonCore")
			})
			for _, company := range companies {
				path := `Software\Python\` + company
				tags := subkeys(root, path, view)
				slices.SortStableFunc(tags, func(a, b string) int { return slices.Compare(numbers(b), numbers(a)) })
				for _, tag := range tags {
					dir := value(root, path+`\`+tag+`\InstallPath`, view)
					if filepath.IsAbs(dir) && !slices.Contains(dirs, filepath.Clean(dir)) {
						dirs = append(dirs, filepath.Clean(dir))
					}
				}
			}
		}
	}
	return dirs
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}

// subkeys lists at most 1000 names of keys below a key of the registry.
func subkeys(root registry.Key, path string, view uint32) []string {
	key, err := registry.OpenKey(root, path, registry.ENUMERATE_SUB_KEYS|view)
	if err != nil {
		return nil
	}
	defer key.Close()
	names, _ := key.ReadSubKeyNames(1000)
	return names
}

// value returns the default value of a key of the registry, or "".
func value(root registry.Key, path string, view uint32) string {
	key, err := registry.OpenKey(root, path, registry.QUERY_VALUE|view)
	if err != nil {
		return ""
	}
	defer key.Close()
	text, _, _ := key.GetStringValue("")
	return text
}

// ownerOf returns this user as the owner. Windows has access lists instead, which pyplug does not
// read.
func ownerOf(path string) (owner, bool) {
	_, err := os.Stat(path)
	return owner{uid: os.Getuid()}, err == nil
}
