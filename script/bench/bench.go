//go:build linux

package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench is the lab that the contenders of a contest run in: hosts a and b with a link
// between them, and the contest's servers in b.
type bench struct {
	binary, name string
	dir          string // has the files below, and the programs made of them
	control      string // the congestion control of TCP of both hosts
	stop         []func()
}

// pair is the file of most contests' lab.
const pair = "pair.yaml"

//go:embed *.yaml mininet64.py peers
var files embed.FS

// server is b's address; turnSeconds is how long each tool sends in a turn.
const (
	server      = "10.0.0.2"
	turnSeconds = "2"
)

// service is a server: what listens on a port, and an option of ss(8) that lists it.
type service struct{ port, listing, command string }

var (
	linerateServer = service{":5202", "-t", "{linerate} serve --iperf3 off --max-connections 100000 --max-flows 512"}
	iperf3Server   = service{":5201", "-t", "iperf3 -s"}
	nginxServer    = service{":8090", "-t", "nginx -p {dir} -c {dir}/peers/nginx.conf"}
)

// expand replaces what commands have in braces.
func (l *bench) expand(command string) string {
	client := l.binary + " measure --json --quiet --duration " + turnSeconds + "s --warmup 500ms"
	return strings.NewReplacer("{linerate}", l.binary, "{client}", client, "{measure}", client+" "+server,
		"{iperf3}", "iperf3 -c "+server+" -t "+turnSeconds+" -J", "{dir}", l.dir, "{server}", server,
		"{seconds}", turnSeconds, "{web}", "http://"+server+":8090/").Replace(command)
}

// newBench writes the files that contenders need, and compiles the peers that are source
// files; nothing runs yet.
func newBench(ctx context.Context, binary, control string) (l *bench, err error) {
	l = &bench{binary: binary, control: control, name: fmt.Sprintf("bench-%d", os.Getpid())}
	if l.dir, err = os.MkdirTemp("", "linerate-bench-"); err != nil {
		return nil, err
	}
	err = errors.Join(os.CopyFS(l.dir, files), writeFrames(l.dir))
	for _, name := range []string{"crr", "both"} {
		source := filepath.Join(l.dir, "peers", name+".c")
		if err == nil {
			_, err = attempt(ctx, "gcc", "-O2", "-o", filepath.Join(l.dir, name), source)
		}
	}
	return l, err
}

// enter makes a contest's lab with its servers, in place of the one that is up.
func (l *bench) enter(ctx context.Context, c contest) error {
	l.leave()
	if c.lab == "" {
		return nil
	}
	_, err := l.start(ctx, l.binary, "lab", "up", filepath.Join(l.dir, c.lab), "--trust", "--lab", l.name)
	if err != nil {
		return err
	}
	if err := soon("the lab is up", func() error { _, err := l.in(ctx, "b", "true"); return err }); err != nil {
		return err
	}
	for _, host := range []string{"a", "b"} {
		if err := l.choose(ctx, host); err != nil {
			return err
		}
	}
	for _, s := range c.services {
		if _, err := l.serve(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// choose makes the congestion control of TCP the default of a host, for all programs.
func (l *bench) choose(ctx context.Context, host string) error {
	const name = "net.ipv4.tcp_congestion_control"
	now, err := l.in(ctx, host, "sysctl", "-n", name)
	if err != nil || strings.TrimSpace(string(now)) == l.control {
		return err
	}
	if _, err := l.in(ctx, host, "sysctl", "-q", "-w", name+"="+l.control); err != nil {
		return err
	}
	now, err = l.in(ctx, host, "sysctl", "-n", name)
	if err == nil && strings.TrimSpace(string(now)) != l.control {
		err = fmt.Errorf("%s of host %s is %q, want %q", name, host, now, l.control)
	}
	return err
}

// permitted is the congestion control that hosts of labs can have on a machine, if another is
// wanted: a namespace begins with the machine's own, and may choose what the machine allows.
func permitted(want, machines, allowed string) string {
	if want == machines || slices.Contains(strings.Fields(allowed), want) {
		return want
	}
	return "reno" // every kernel has it, and allows it
}

// leave ends the lab and what runs in it.
func (l *bench) leave() {
	for _, stop := range slices.Backward(l.stop) {
		stop()
	}
	l.stop = nil
}

// serve starts a server in b, and waits until it listens; end ends it.
func (l *bench) serve(ctx context.Context, s service) (end func(), err error) {
	command, port := strings.Fields(l.expand(s.command)), l.expand(s.port)
	if end, err = l.start(ctx, l.command("b", command...)...); err != nil {
		return nil, err
	}
	err = soon(command[0]+" listens on "+port, func() error {
		out, err := l.in(ctx, "b", "ss", "-lnH", s.listing)
		if err == nil && !bytes.Contains(out, []byte(port+" ")) {
			err = errors.New("it does not")
		}
		return err
	})
	return end, err
}

// soon waits until something works.
func soon(what string, try func() error) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("wait until %s: %w", what, err)
		}
	}
}

// start starts a command that end ends, or else leave.
func (l *bench) start(ctx context.Context, command ...string) (end func(), err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := false
	end = func() {
		if !ended {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		}
		ended = true
	}
	l.stop = append(l.stop, end)
	return end, nil
}

func (l *bench) close() {
	l.leave()
	_ = os.RemoveAll(l.dir)
}

func (l *bench) command(host string, command ...string) []string {
	return append([]string{l.binary, "lab", "exec", "--lab", l.name, host, "--"}, command...)
}

// in runs a command in a host of the lab, for a minute at most.
func (l *bench) in(ctx context.Context, host string, command ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return output(ctx, l.command(host, command...)...)
}

// spent runs a command in host a, and returns what it prints and its CPU time in seconds. Both
// may be there with an error: linerate ends with status 3 where the machine was the limit,
// as is meant here.
func (l *bench) spent(ctx context.Context, command string) (out []byte, seconds float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	words := append([]string{"bash"}, strings.Fields(l.expand("{dir}/peers/spent.sh "+command))...)
	out, err = attempt(ctx, l.command("a", words...)...)
	out, seconds, cut := cutSpent(out)
	return out, seconds, errors.Join(cut, err)
}

// cutSpent takes the last line, that of spent.sh, off what a command has printed: the CPU
// time of the command, in seconds.
func cutSpent(text []byte) (out []byte, seconds float64, err error) {
	before, line, ok := strings.Cut(string(text), "\nspent ")
	if !ok {
		return text, 0, fmt.Errorf("%.200q: no line with its CPU time", text)
	}
	for word := range strings.FieldsSeq(line) {
		s, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return text, 0, errors.New("spent.sh: " + line)
		}
		seconds += s
	}
	return []byte(before), seconds, nil
}
