package daemon

import "os"

const supported = false

const noFollow = 0

// held is an acquired name, which does not exist here.
type held struct {
	place
	file *os.File
}

func (p place) acquire() (*held, bool, error) { return nil, false, errWindows }
func (p place) locked() bool                  { return false }
func (h *held) owns() bool                    { return false }
func (h *held) release()                      {}
func busy(error) bool                         { return false }
