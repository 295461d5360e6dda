package pool

// Stats says what a pool does and did.
type Stats struct {
	// Queued is how many calls and leases wait, Running how many have a place,
	// those included whose instance is being probed after them.
	Queued, Running int
	// Calls is how many calls ended in an instance. Failed is how many failed,
	// those included that found no place.
	Calls, Failed uint64
	// Slots are in the order in which New got them.
	Slots []SlotStats
}

// SlotStats is the part of one slot.
type SlotStats struct {
	// PID is that of the instance that takes the calls, 0 when there is none.
	PID           int
	Running       int
	Calls, Failed uint64
}

// Stats says what the pool does and did. It does not wait for calls.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := Stats{Queued: p.queue.len, Calls: p.calls, Failed: p.failed, Slots: make([]SlotStats, len(p.slots))}
	for i, s := range p.slots {
		one := SlotStats{Running: s.running, Calls: s.calls, Failed: s.failed}
		if s.current != nil && !ended(s.current.inst) {
			one.PID = s.current.inst.Info().PID
		}
		st.Running += s.running
		st.Slots[i] = one
	}
	return st
}
