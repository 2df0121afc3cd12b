//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// rest is the pause after each turn: the kernel frees namespaces after the
// command has ended, and that must not be part of the other's turn.
const rest = 3 * time.Second

// labTimes is one contender's lab, up and down once, in seconds.
type labTimes struct {
	UpS   float64 `json:"up_s"`
	DownS float64 `json:"down_s"`
	// wall is the whole command, from start to exit; after is the CPU time that
	// the machine was busy during the rest.
	wall, after float64
}

func upOf(f figure) float64    { return f.UpS }
func downOf(f figure) float64  { return f.DownS }
func wallOf(f figure) float64  { return f.wall }
func afterOf(f figure) float64 { return f.after }

// lab compares how fast a lab of 64 hosts is made and removed. It is measured before the
// bench's own lab and servers run.
var lab = contest{
	key: "lab", Title: "Start-up of a lab", unit: "s until up", digits: 3,
	conditions: []string{"64 hosts"},
	contenders: []contender{
		{name: "linerate", turn: labTurn("{linerate} lab up {dir}/lab64.yaml --until ready --json")},
		// In namespaces of its own Mininet leaves nothing behind whatever happens,
		// and cannot reach most of the machine's settings. Debian's interpreter is
		// named, because another one on the PATH would not find the package.
		{name: "Mininet", turn: labTurn(
			"unshare --net --mount --pid --fork --kill-child --mount-proc /usr/bin/python3 {dir}/mininet64.py")},
	},
	marks: []mark{
		{0, "linerate", "Mininet", upOf, "up", 0.5, atMost},
		{0, "linerate", "Mininet", downOf, "down", 0.1, atMost},
	},
}

func labTurn(words string) func(context.Context, *bench, int) (figure, error) {
	return func(ctx context.Context, l *bench, _ int) (f figure, err error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		command := strings.Fields(l.expand(words))
		var out, errs bytes.Buffer
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.WaitDelay = 5 * time.Second

		begin := time.Now()
		err = cmd.Run()
		f.wall = time.Since(begin).Seconds()
		stderr := strings.TrimSpace(errs.String())
		if err != nil {
			return f, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, stderr)
		}
		if err := json.Unmarshal(out.Bytes(), &f.labTimes); err != nil || f.UpS <= 0 || f.DownS <= 0 {
			return f, fmt.Errorf("%s: want {\"up_s\", \"down_s\"} on stdout, got %q (%s)", strings.Join(command, " "),
				out.String(), stderr)
		}
		f.rate = f.UpS
		f.after, err = pause(ctx, rest)
		return f, err
	}
}
