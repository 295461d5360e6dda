package grpcplugin

// Evidence returns the evidence of the instance's start.
func (i *Instance) Evidence() Evidence { return i.evidence }
