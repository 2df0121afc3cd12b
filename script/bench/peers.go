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
	"syscall"
	"time"
)

//go:embed pair.yaml
var pairFile []byte

// bench is the lab that all contenders run in: hosts a and b with a link between
// them, and the servers of all of them in b.
type bench struct {
	binary, name string
	dir          string
	crr, both    string // the programs of crr.c and both.c
	stop         []func()
}

// far is b's address. The others are ports there: of crr.c, free and bound to
// one CPU, and of iperf, since nuttcp wants its own one, and those above, for data.
const (
	far       = "10.0.0.2"
	crrPort   = "7100"
	boundPort = "7101"
	iperfPort = "5999"
)

// newBench makes the lab and starts the servers.
func newBench(ctx context.Context, binary string) (l *bench, err error) {
	l = &bench{binary: binary, name: fmt.Sprintf("bench-%d", os.Getpid())}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.dir, err = os.MkdirTemp("", "linerate-bench-"); err != nil {
		return l, err
	}
	file := filepath.Join(l.dir, "pair.yaml")
	if err := os.WriteFile(file, pairFile, 0o600); err != nil {
		return l, err
	}
	if err := l.start(ctx, binary, "lab", "up", file, "--lab", l.name); err != nil {
		return l, err
	}
	if err := soon("the lab comes up", func() error { _, err := l.in(ctx, "b", "true"); return err }); err != nil {
		return l, err
	}
	if l.crr, err = l.build(ctx, "crr"); err != nil {
		return l, err
	}
	if l.both, err = l.build(ctx, "both"); err != nil {
		return l, err
	}
	for _, server := range []struct {
		port    string
		listing string // option of ss
		command []string
	}{
		{":5201", "-t", []string{"iperf3", "-s"}},
		{":" + iperfPort, "-t", []string{"iperf", "-s", "-p", iperfPort}},
		{":5000", "-t", []string{"nuttcp", "-S"}}, // leaves by itself for the background
		{":19765", "-t", []string{"qperf"}},
		{":11111", "-t", []string{"sockperf", "server", "--tcp", "-i", far, "-p", "11111"}},
		{":11112", "-u", []string{"sockperf", "server", "-i", far, "-p", "11112"}},
		{":" + crrPort, "-t", []string{l.crr, "server", crrPort}},
		{":" + boundPort, "-t", []string{"taskset", "-c", "0", l.crr, "server", boundPort}},
		{":5202", "-t", []string{binary, "serve", "--iperf3", "off", "--listen", far + ":5202"}},
	} {
		if err := l.start(ctx, l.command("b", server.command...)...); err != nil {
			return l, err
		}
		err := soon(server.command[0]+" listens on "+server.port, func() error {
			out, err := l.in(ctx, "b", "ss", "-lnH", server.listing)
			if err == nil && !bytes.Contains(out, []byte(server.port+" ")) {
				err = errors.New("it does not")
			}
			return err
		})
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

//go:embed peers/*.c
var sources embed.FS

// build compiles a peer that Debian has no package of.
func (l *bench) build(ctx context.Context, name string) (string, error) {
	text, err := sources.ReadFile("peers/" + name + ".c")
	if err != nil {
		return "", err
	}
	program := filepath.Join(l.dir, name)
	if err := os.WriteFile(program+".c", text, 0o600); err != nil {
		return "", err
	}
	_, err = output(ctx, "gcc", "-O2", "-o", program, program+".c")
	return program, err
}

// soon waits until something works.
func soon(what string, try func() error) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("waited in vain that %s: %w", what, err)
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
	for i := len(l.stop) - 1; i >= 0; i-- {
		l.stop[i]()
	}
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

// burdened runs a command in host a and says how many seconds all CPUs together
// were busy meanwhile.
func (l *bench) burdened(ctx context.Context, command ...string) (out []byte, cpu float64, err error) {
	before, err := busySeconds()
	if err != nil {
		return nil, 0, err
	}
	if out, err = l.in(ctx, "a", command...); err != nil {
		return nil, 0, err
	}
	after, err := busySeconds()
	return out, after - before, err
}
