//go:build !linux

package proc

// oomKills returns nothing: only Linux has the counts.
func oomKills() oomCounts { return nil }
