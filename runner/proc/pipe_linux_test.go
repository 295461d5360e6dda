package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

// TestReadQuiet checks that silence counts as the end if the process is gone and another process
// holds its output.
func TestReadQuiet(t *testing.T) {
	clean(t)
	p := answering(t, nil)
	held, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", p.PID(), DescriptorsOf().Out), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	ask(t, p)
	p.Conn().CloseWrite()
	<-p.Done()
	b := make([]byte, 100)
	if n, err := p.Conn().Read(b); err != nil || string(b[:n]) != "hello\n" {
		t.Errorf("read %q, %v", b[:n], err)
	}
	if _, err := p.Conn().Read(b); !errors.Is(err, io.EOF) {
		t.Errorf("the silence: %v", err)
	}
}
