//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// rest is the pause after each turn: the kernel frees namespaces after the
// command has ended, and that must not be part of the other's turn.
const rest = 3 * time.Second

// labTimes is one contender's lab, up and down once, in seconds.
type labTimes struct {
	UpS   float64 `json:"up_s"`
	DownS float64 `json:"down_s"`
	// wall is the whole command, from start to exit.
	wall float64
}

var (
	upOf   = quantity{"up", "s", 3, 1, func(f figure) float64 { return f.UpS }}
	downOf = quantity{"down", "s", 3, 1, func(f figure) float64 { return f.DownS }}
	wallOf = quantity{"whole command", "s", 3, 1, func(f figure) float64 { return f.wall }}
	busyOf = quantity{"CPU time", "s", 2, 1, func(f figure) float64 { return f.cpu }}
	hostOf = quantity{"memory of a host", "MB", 2, 1e-6, func(f figure) float64 { return f.memory }}
)

// lab compares how fast labs are made and removed, and what hosts take.
var lab = contest{
	key: "lab", Title: "Start-up of a lab",
	conditions: []string{"64 hosts with two links each", "500 hosts with a link each"},
	contenders: []contender{
		{name: "linerate", turn: func(ctx context.Context, l *bench, condition int) (figure, error) {
			if condition == 1 {
				return hostsTurn(ctx, l)
			}
			return labTurn(ctx, l, "{linerate} lab up {dir}/lab64.yaml --until ready --json")
		}},
		// In namespaces of its own Mininet leaves nothing behind whatever happens,
		// and cannot reach most of the machine's settings. Debian's interpreter is
		// named, because another one on the PATH would not find the package.
		{name: "Mininet", args: []string{"64"}, turn: func(ctx context.Context, l *bench, _ int) (figure, error) {
			return labTurn(ctx, l,
				"unshare --net --mount --pid --fork --kill-child --mount-proc /usr/bin/python3 {dir}/mininet64.py")
		}},
	},
	shown: []quantity{upOf, downOf, wallOf, busyOf, hostOf},
	marks: []mark{
		{0, "linerate", "Mininet", upOf, 0.2, atMost},
		{0, "linerate", "Mininet", downOf, 0.1, atMost},
		{1, "linerate", "", upOf, 3, atMost},
		{1, "linerate", "", hostOf, 2, atMost},
	},
	About: "Both run as root and make the same lab: 64 hosts with a network namespace each, two Linux " +
		"bridges, 128 veth pairs ([lab64.yaml](../../script/bench/lab64.yaml), " +
		"[mininet64.py](../../script/bench/mininet64.py)). *Up* is, for linerate, the time from reading the " +
		"file until every host's agent is connected to the bus and has its addresses; for Mininet, from the " +
		"first call of its API until `start()` returns. The start of the programs themselves, including " +
		"Python's imports, is only in the whole command. *Down* ends when the tool's own work is done. The " +
		"kernel frees the namespaces afterwards, in the background: the CPU time is that of the whole machine " +
		"until three seconds after the command had ended. The memory of a host is that of all processes of the " +
		"lab ([lab500.yaml](../../script/bench/lab500.yaml)), each page shared out among those that have it " +
		"(Pss), over the hosts. Mininet runs inside namespaces of its own, so that it cannot change the " +
		"machine's settings; all network parameters of `sysctl -a` are compared and restored afterwards.",
}

// labTurn times a command that makes a lab, takes it down, and prints labTimes.
func labTurn(ctx context.Context, l *bench, words string) (f figure, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	command := strings.Fields(l.expand(words))
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 5 * time.Second

	begin := time.Now()
	f.cpu, err = busyDuring(func() error {
		err := cmd.Run()
		f.wall = time.Since(begin).Seconds()
		return errors.Join(err, pause(ctx, rest))
	})
	stderr := strings.TrimSpace(errs.String())
	if err != nil {
		return f, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, stderr)
	}
	if err := json.Unmarshal(out.Bytes(), &f.labTimes); err != nil || f.UpS <= 0 || f.DownS <= 0 {
		return f, fmt.Errorf("%s: want {\"up_s\", \"down_s\"} on stdout, got %q (%s)", strings.Join(command, " "),
			out.String(), stderr)
	}
	return f, nil
}

// mostHosts is how many hosts lab500.yaml has.
const mostHosts = 500

// isUp is how linerate says that a lab is ready, and what that took.
var isUp = regexp.MustCompile(`^The lab is up \(.*?([0-9.]+) s\)`)

// hostsTurn keeps a lab up until the memory of its processes has been read.
func hostsTurn(ctx context.Context, l *bench) (f figure, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.binary, "lab", "up", filepath.Join(l.dir, "lab500.yaml"), "--trust",
		"--lab", l.name+"-500")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.WaitDelay = 5 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return f, err
	}
	f.cpu, err = busyDuring(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		f.UpS, err = awaitUp(stderr)
		if err == nil {
			f.memory, err = pssBelow(cmd.Process.Pid)
			f.memory /= mostHosts
		}
		begin := time.Now()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, stderr)
		_ = cmd.Wait() // it was ended by the signal
		f.DownS = time.Since(begin).Seconds()
		return errors.Join(err, pause(ctx, rest))
	})
	return f, err
}

// awaitUp reads until a lab is up.
func awaitUp(from io.Reader) (seconds float64, err error) {
	var last string
	for lines := bufio.NewScanner(from); lines.Scan(); last = lines.Text() {
		if found := isUp.FindStringSubmatch(lines.Text()); found != nil {
			return strconv.ParseFloat(found[1], 64)
		}
	}
	return 0, fmt.Errorf("the lab did not come up: %s", last)
}

// pssBelow adds up the proportional memory of a process and of all below it, in bytes.
func pssBelow(root int) (bytes float64, err error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, err
	}
	children := map[int][]procfs.Proc{}
	var left []procfs.Proc
	for _, p := range all {
		if stat, err := p.Stat(); err == nil { // otherwise it has ended
			children[stat.PPID] = append(children[stat.PPID], p)
		}
		if p.PID == root {
			left = append(left, p)
		}
	}
	for len(left) > 0 {
		p := left[0]
		left = append(left[1:], children[p.PID]...)
		memory, err := p.ProcSMapsRollup()
		if err != nil {
			return 0, err
		}
		bytes += float64(memory.Pss)
	}
	return bytes, nil
}
