package runner

import "testing"

// TestManyWorkers checks the note about the number of workers and their memory. There is a note if
// there are more than eight workers and more workers than cores.
func TestManyWorkers(t *testing.T) {
	for _, c := range []struct {
		workers, cores int
		memory         int64
		want           string
	}{
		{8, 2, 1 << 20, ""},
		{12, 12, 1 << 20, ""},
		{9, 1, 0, "9 workers on 1 core: more than 8 rarely help"},
		{40, 16, 30 << 20, "40 workers on 16 cores: more than 16 rarely help; each uses up to 30 MB of memory, all of them up to 1200 MB"},
	} {
		if got := manyWorkers(c.workers, c.cores, c.memory); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}
