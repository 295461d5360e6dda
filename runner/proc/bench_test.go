//go:build linux || darwin

package proc

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// truePath returns the path of a program that does nothing.
func truePath(b *testing.B) string {
	for _, path := range []string{"/bin/true", "/usr/bin/true"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	b.Skip("no program that does nothing")
	return ""
}

// BenchmarkBare measures a process without this package, for comparison.
func BenchmarkBare(b *testing.B) {
	path := truePath(b)
	for b.Loop() {
		if err := exec.Command(path).Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	clean(b)
	path := truePath(b)
	for b.Loop() {
		p, err := Start(Spec{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
	}
}

// BenchmarkFirst measures the first process of a pyplug, including the guard and its end.
func BenchmarkFirst(b *testing.B) {
	clean(b)
	path := truePath(b)
	for b.Loop() {
		p, err := Start(Spec{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
		Close()
	}
}

func BenchmarkGuard(b *testing.B) {
	clean(b)
	for b.Loop() {
		startGuard(running.run).end()
	}
}

func BenchmarkStop(b *testing.B) {
	clean(b)
	for b.Loop() {
		p, err := Start(Spec{Path: "/bin/sleep", Args: []string{"100"}})
		if err != nil {
			b.Fatal(err)
		}
		p.Stop(context.Background(), nil)
	}
}

func BenchmarkDrain(b *testing.B) {
	for _, width := range []int{0, 64, 4096} {
		b.Run(strconv.Itoa(width), func(b *testing.B) {
			clean(b)
			const size = 256 << 20
			b.SetBytes(size)
			for b.Loop() {
				n := 0
				s := child(b, "flood", strconv.Itoa(size), strconv.Itoa(width))
				s.OnLine = func(l Line) { n += len(l.Text) + l.Cut }
				p, err := Start(s)
				if err != nil {
					b.Fatal(err)
				}
				if e := p.Exit(); e.Code != 0 || n < size-size/max(width, 1)-1 && width > 0 {
					b.Fatalf("%d bytes, %+v", n, e)
				}
			}
		})
	}
}
