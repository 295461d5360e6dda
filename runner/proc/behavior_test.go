//go:build linux || darwin

package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// behaviors are the programs that this test binary can run as a child.
var behaviors = map[string]func(args []string){
	"exit": func(args []string) {
		code, _ := strconv.Atoi(args[0])
		os.Exit(code)
	},
	"sleep": func([]string) {
		fmt.Println("ready")
		forever()
	},
	"stubborn": func([]string) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		fmt.Println("ready")
		forever()
	},
	"polite": func([]string) {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
		fmt.Println("ready")
		if <-c == syscall.SIGTERM {
			os.Exit(3)
		}
		os.Exit(4)
	},
	// holder exits and leaves a child in the group. The child holds the streams.
	"holder": func([]string) {
		c := again("sleep")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		must(c.Start())
		fmt.Println("child", c.Process.Pid)
		os.Exit(5)
	},
	// escape leaves a grandchild that has its own session and whose parent is gone.
	"escape": func(args []string) {
		middle := again("middle", args...)
		middle.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := middle.Output()
		must(err)
		fmt.Print(string(out))
		if len(args) > 0 && args[0] == "stay" {
			forever()
		}
	},
	// unreaped starts a child that has its own session and exits. It does not wait for the child.
	"unreaped": func([]string) {
		c := again("exit", "0")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must(c.Start())
		fmt.Println("child", c.Process.Pid)
		forever()
	},
	"middle": func(args []string) {
		c := again("sleep")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if len(args) > 1 && args[1] == "bare" {
			c.Env = []string{behavior + "=sleep", quickExit}
		}
		must(c.Start())
		fmt.Println("grandchild", c.Process.Pid)
	},
	"closer": func([]string) {
		fmt.Println("ready")
		for fd := range 10 {
			if fd != 2 {
				syscall.Close(fd)
			}
		}
		fmt.Fprintln(os.Stderr, "closed")
		forever()
	},
	// flood writes args[0] bytes in lines of args[1] bytes, or without line ends if that is 0.
	"flood": func(args []string) {
		total, _ := strconv.Atoi(args[0])
		width, _ := strconv.Atoi(args[1])
		block := bytes.Repeat([]byte{'x'}, 1<<20)
		for i := width - 1; width > 0 && i < len(block); i += width {
			block[i] = '\n'
		}
		for ; total > 0; total -= len(block) {
			_, err := os.Stdout.Write(block[:min(total, len(block))])
			must(err)
		}
	},
	"stdin": func([]string) {
		b, err := io.ReadAll(os.Stdin)
		fmt.Printf("stdin %q %v\n", b, err)
	},
	"echo": func([]string) {
		in, out := talk()
		_, err := io.Copy(out, struct{ io.Reader }{in})
		must(err)
	},
	"env": func([]string) {
		for _, entry := range os.Environ() {
			fmt.Println(entry)
		}
	},
	"files": func([]string) {
		names, err := os.ReadDir("/dev/fd/")
		must(err)
		for _, name := range names {
			fmt.Println("fd", name.Name())
		}
		pgid, _ := syscall.Getpgid(0)
		fmt.Println("own group", pgid == os.Getpid())
	},
	// pyplug is a program that uses this package: it starts the behaviors that its arguments name,
	// prints their PIDs, and sleeps.
	"pyplug": func(args []string) {
		dir, err := TempDir(1000)
		must(err)
		must(os.WriteFile(dir+"/file", nil, 0o600))
		fmt.Println("temp", dir)
		path, _ := os.Executable()
		for _, words := range args {
			w := strings.Fields(words)
			s := Spec{Path: path, Args: w[1:], Env: Environ(os.Environ(), false, []string{behavior + "=" + w[0], quickExit})}
			s.OnLine = func(l Line) { fmt.Println(l.Text) }
			p, err := Start(s)
			must(err)
			fmt.Println("process", p.PID())
		}
		running.guardMu.Lock()
		fmt.Println("guard", running.guard.pid)
		running.guardMu.Unlock()
		fmt.Println("started")
		forever()
	},
	"spin": func([]string) {
		fmt.Println("spinning")
		for i := uint64(0); ; i++ {
			sink = i
		}
	},
	// leave exits with code 6 at the end of its standard input.
	"leave": func([]string) {
		in, _ := talk()
		bufio.NewReader(in).ReadString('\n')
		os.Exit(6)
	},
}

// talk returns the pipes of a process that talks, from its last argument.
func talk() (in, out *os.File) {
	var at [2]uintptr
	_, err := fmt.Sscan(os.Args[len(os.Args)-1], &at[0], &at[1])
	must(err)
	return os.NewFile(at[0], "in"), os.NewFile(at[1], "out")
}

var sink uint64

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
}

// again returns a command that runs this binary with another behavior.
func again(name string, args ...string) *exec.Cmd {
	path, err := os.Executable()
	must(err)
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), behavior+"="+name, quickExit)
	return c
}
