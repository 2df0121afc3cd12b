//go:build linux

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

//go:embed lab64.yaml
var labFile []byte

//go:embed mininet64.py
var mininetFile []byte

// What the lab set out to reach, as parts of Mininet's time.
const (
	upMark   = 0.5
	downMark = 0.1
)

// rest is the pause after each turn: the kernel frees namespaces after the
// command has ended, and that must not be paid by the other's turn.
const rest = 3 * time.Second

// labTurn is one contender's lab, up and down once.
type labTurn struct {
	UpS   float64 `json:"up_s"`
	DownS float64 `json:"down_s"`
	// wall is the whole command, from start to exit; after is the CPU time that
	// the machine was busy during the rest.
	wall, after float64
}

// labResult is every turn, by contender, in the order of the rounds.
type labResult struct {
	Linerate, Mininet []labTurn
}

func measureLab(ctx context.Context, rounds int, binary string) (*labResult, error) {
	dir, err := os.MkdirTemp("", "linerate-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	lab, script := filepath.Join(dir, "lab64.yaml"), filepath.Join(dir, "mininet64.py")
	for file, text := range map[string][]byte{lab: labFile, script: mininetFile} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
	}

	linerate := []string{binary, "lab", "up", lab, "--until", "ready", "--json"}
	// In namespaces of its own Mininet leaves nothing behind whatever happens,
	// and cannot reach most of the machine's settings. Debian's interpreter is
	// named, because another one on the PATH would not find the package.
	mininet := []string{"unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
		"/usr/bin/python3", script}

	r := &labResult{}
	for round := 0; round <= rounds; round++ {
		turns := []struct {
			name    string
			command []string
			into    *[]labTurn
		}{{"linerate", linerate, &r.Linerate}, {"mininet", mininet, &r.Mininet}}
		if round%2 == 1 {
			turns[0], turns[1] = turns[1], turns[0]
		}
		for _, turn := range turns {
			t, err := takeTurn(ctx, turn.command)
			if err != nil {
				return nil, fmt.Errorf("round %d, %s: %w", round, turn.name, err)
			}
			counted := "warm-up, not counted"
			if round > 0 {
				*turn.into = append(*turn.into, t)
				counted = fmt.Sprintf("round %d of %d", round, rounds)
			}
			fmt.Fprintf(os.Stderr, "bench: lab of 64 hosts: %-8s up %.3f s, down %.3f s (%s)\n", turn.name, t.UpS, t.DownS, counted)
		}
	}
	return r, nil
}

func takeTurn(ctx context.Context, command []string) (labTurn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 5 * time.Second

	begin := time.Now()
	err := cmd.Run()
	wall := time.Since(begin).Seconds()
	said := strings.TrimSpace(errs.String())
	if err != nil {
		return labTurn{}, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, said)
	}
	var t labTurn
	if err := json.Unmarshal(out.Bytes(), &t); err != nil || t.UpS <= 0 || t.DownS <= 0 {
		return labTurn{}, fmt.Errorf("%s: want {\"up_s\", \"down_s\"} on stdout, got %q (%s)", strings.Join(command, " "), out.String(), said)
	}
	t.wall = wall
	t.after, err = pause(ctx, rest)
	return t, err
}

// met tells whether linerate reached both marks.
func (r *labResult) met() bool {
	return r.ratio(upOf).Median <= upMark && r.ratio(downOf).Median <= downMark
}

func upOf(t labTurn) float64    { return t.UpS }
func downOf(t labTurn) float64  { return t.DownS }
func wallOf(t labTurn) float64  { return t.wall }
func afterOf(t labTurn) float64 { return t.after }

// ratio compares the contenders round by round.
func (r *labResult) ratio(of func(labTurn) float64) spread {
	var all []float64
	for i := range r.Linerate {
		all = append(all, of(r.Linerate[i])/of(r.Mininet[i]))
	}
	return spreadOf(all)
}

func each(turns []labTurn, of func(labTurn) float64) spread {
	var all []float64
	for _, t := range turns {
		all = append(all, of(t))
	}
	return spreadOf(all)
}

func (r *labResult) summary() string {
	return fmt.Sprintf("lab of 64 hosts against Mininet: up %s (mark %g), down %s (mark %g)",
		r.ratio(upOf).times(), upMark, r.ratio(downOf).times(), downMark)
}
