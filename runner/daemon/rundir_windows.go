package daemon

// No name can be acquired here, so there are no run directories.

func RunDirs() []string     { return nil }
func checkDir(string) error { return errWindows }
func mkdir(string) error    { return errWindows }
