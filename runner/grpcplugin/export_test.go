package grpcplugin

// Evidence is what was seen while it started.
func (i *Instance) Evidence() Evidence { return i.evidence }
