package daemon

const supported = false

// held is a name that is taken, which none is here.
type held struct{ place }

func (p place) take() (*held, bool, error) { return nil, false, errWindows }
func (p place) taken() bool                { return false }
func (h *held) free()                      {}
