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
	"strings"
	"syscall"
	"time"
)

// bench is the lab that the contenders run in: hosts a and b with a link between
// them, and the servers of all of them in b.
type bench struct {
	binary, name string
	dir          string // has the files below, and the programs made of them
	file         string // of the lab that is up
	stop         []func()
}

// pair is the file of most contests' lab.
const pair = "pair.yaml"

//go:embed pair.yaml served.yaml described.yaml known.yaml lab64.yaml mininet64.py peers
var files embed.FS

// server is b's address; turnSeconds is how long each tool sends in a turn.
const (
	server      = "10.0.0.2"
	turnSeconds = "2"
)

// expand replaces what commands have in braces. Ports are crr.c's, free and bound to
// one CPU, and iperf's, since nuttcp uses its default port and those above for data.
func (l *bench) expand(command string) string {
	measure := l.binary + " measure " + server + " --json --quiet --duration " + turnSeconds + "s --warmup 500ms"
	return strings.NewReplacer("{linerate}", l.binary, "{measure}", measure, "{dir}", l.dir, "{server}", server,
		"{seconds}", turnSeconds,
		"{crr}", "7100", "{bound}", "7101", "{iperf}", "5999", "{web}", "http://"+server+":8090/").Replace(command)
}

// newBench writes the files that contenders need; nothing runs yet.
func newBench(binary string) (l *bench, err error) {
	l = &bench{binary: binary, name: fmt.Sprintf("bench-%d", os.Getpid())}
	if l.dir, err = os.MkdirTemp("", "linerate-bench-"); err != nil {
		return nil, err
	}
	return l, errors.Join(os.CopyFS(l.dir, files), writeFrames(l.dir))
}

// servers are started in b in this order: what listens on a port, and an option of
// ss(8) that lists it.
var servers = []struct{ port, listing, command string }{
	{":5201", "-t", "iperf3 -s"},
	{":{iperf}", "-t", "iperf -s -p {iperf}"},
	{":5000", "-t", "nuttcp -S"}, // goes into the background by itself
	{":19765", "-t", "qperf"},
	{":11111", "-t", "sockperf server --tcp -i {server} -p 11111"},
	{":11112", "-u", "sockperf server -i {server} -p 11112"},
	{":{crr}", "-t", "{dir}/crr server {crr}"},
	{":{bound}", "-t", "taskset -c 0 {dir}/crr server {bound}"},
	{":8090", "-t", "nginx -p {dir} -c {dir}/peers/nginx.conf"},
	{":5353", "-u", "sh {dir}/peers/nsd.sh {dir}"},
	{":6390", "-t", "redis-server --port 6390 --bind {server} --protected-mode no --dir {dir}"},
	{":5202", "-t", "{linerate} serve --iperf3 off --listen {server}:5202"},
}

// enter makes the lab of a file, unless it is up, in place of the one that is.
func (l *bench) enter(ctx context.Context, file string) error {
	if file == l.file {
		return nil
	}
	l.leave()
	if l.file = file; file == "" {
		return nil
	}
	if err := l.start(ctx, l.binary, "lab", "up", filepath.Join(l.dir, file), "--trust", "--lab", l.name); err != nil {
		return err
	}
	if err := soon("the lab is up", func() error { _, err := l.in(ctx, "b", "true"); return err }); err != nil {
		return err
	}
	if file != pair {
		return nil
	}
	return l.serve(ctx)
}

// leave ends the lab and what runs in it.
func (l *bench) leave() {
	for i := len(l.stop) - 1; i >= 0; i-- {
		l.stop[i]()
	}
	l.stop = nil
}

// serve compiles the peers that Debian has no package of, and starts the servers.
func (l *bench) serve(ctx context.Context) error {
	for _, name := range []string{"crr", "both"} {
		if _, err := output(ctx, "gcc", "-O2", "-o", filepath.Join(l.dir, name),
			filepath.Join(l.dir, "peers", name+".c")); err != nil {
			return err
		}
	}
	for _, server := range servers {
		command, port := strings.Fields(l.expand(server.command)), l.expand(server.port)
		if err := l.start(ctx, l.command("b", command...)...); err != nil {
			return err
		}
		err := soon(command[0]+" listens on "+port, func() error {
			out, err := l.in(ctx, "b", "ss", "-lnH", server.listing)
			if err == nil && !bytes.Contains(out, []byte(port+" ")) {
				err = errors.New("it does not")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
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

// start starts a command that close ends.
func (l *bench) start(ctx context.Context, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	l.stop = append(l.stop, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return nil
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
