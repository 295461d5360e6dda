package call

import "os"

// commandLine is the words behind the program's name.
func commandLine() []string {
	if len(os.Args) == 0 {
		return nil
	}
	return os.Args[1:]
}
