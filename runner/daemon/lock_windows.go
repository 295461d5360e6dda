package daemon

import "os"

const supported = false

const noDetour = 0

// held is a name that is taken, which none is here.
type held struct {
	place
	file *os.File
}

func (p place) take() (*held, bool, error) { return nil, false, errWindows }
func (p place) locked() bool               { return false }
func (h *held) owns() bool                 { return false }
func (h *held) retake(bool) bool           { return false }
func (h *held) free()                      {}
func busy(error) bool                      { return false }
