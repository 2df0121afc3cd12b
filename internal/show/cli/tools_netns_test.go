//go:build linux

package cli

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// needs skips the test where a program is not installed.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			kerneltest.Skip(t, name+" is not installed")
		}
	}
}

// TestTools: with one and four streams, both ways at once, what linerate counts
// of iperf3's and iperf's connections is what the ports carried, and what their
// receivers say of their own time.
func TestTools(t *testing.T) {
	needs(t, "iperf3", "iperf")
	run := runLab(t, t.TempDir(), labFile(t, "tools.yaml"), "--seed", "7", "--budget", "14s")
	if len(run.Trials) < 2 {
		t.Fatalf("%d trials", len(run.Trials))
	}
	for _, trial := range run.Trials[:2] {
		name := trial.Treatment
		var counted, reported, got float64
		seen := map[string]bool{}
		for _, f := range trial.Flows {
			if !f.Connected || !f.Alive || f.ReceivedBytes == 0 || f.SenderInfo == nil || f.CongestionControl != "cubic" || seen[f.Source+f.Destination] {
				t.Errorf("%s: %+v", name, f)
				continue
			}
			seen[f.Source+f.Destination] = true
			many := strings.HasPrefix(f.Process, "p2")
			if segment := f.SenderInfo.SndMSS; many != (segment <= 1200) {
				t.Errorf("%s: %s sends segments of %d bytes", name, f.Process, segment)
			}
			got += float64(f.ReceivedBytes)
		}
		for _, tool := range trial.Tools {
			if tool.Error != "" || tool.Tool != name || len(tool.Output) < 100 || len(tool.ServerOutput) < 100 || tool.TookS == 0 {
				t.Errorf("%s: %+v", name, tool)
			}
			counted, reported = counted+tool.GoodputBps, reported+tool.ReceiverBps
		}
		if len(trial.Flows) != 10 || len(trial.Tools) != 4 {
			t.Errorf("%s: %d flows by %d processes", name, len(trial.Flows), len(trial.Tools))
		}
		// Their time is not the window, and the link is shared unevenly at first.
		if math.Abs(reported/counted-1) > 0.15 {
			t.Errorf("%s: its receivers report %.1f Mbit/s, their connections carried %.1f", name, reported/1e6, counted/1e6)
		}
		var ports float64
		for _, h := range trial.Hosts {
			for _, d := range h.Deltas() {
				if d.Interface == "eth0" && d.Seconds > 0 {
					ports += (d.RxBytes - 66*d.RxPackets) * trial.WindowS / d.Seconds
				}
			}
		}
		if math.Abs(ports/got-1) > 0.05 {
			t.Errorf("%s: ports took in %.2f MB of payload, connections received %.2f MB", name, ports/1e6, got/1e6)
		}
		if s := trial.ToolReported; s == nil || s.Processes != 4 || s.Tool != name || math.Abs(s.GoodputBps-counted) > 1 {
			t.Errorf("%s: %+v, counted %g", name, s, counted)
		}
	}
}

// TestToolSurplus: what a sender counts in a short time over many connections is
// caught, and predicted from what lay in the send buffers.
func TestToolSurplus(t *testing.T) {
	needs(t, "iperf3", "iperf")
	run := runLab(t, t.TempDir(), labFile(t, "tools-surplus.yaml"), "--seed", "7", "--budget", "6s")
	for _, trial := range run.Trials {
		s := trial.ToolReported
		if s == nil {
			t.Fatalf("%s: no figure: %+v", trial.Treatment, trial.Tools)
		}
		over := run.Topology
		for _, c := range trust.Trial(trial, &over) {
			if c.Check != trust.ToolAgrees {
				continue
			}
			// iperf waits for its buffers, so that how much it is off is a matter of
			// chance; the check must notice in either case.
			if off := s.SumBps > 1.05*s.GoodputBps && s.SumBps > 1.1*trial.LimitBps; off && c.Pass || trial.Treatment == "iperf3" && !off {
				t.Errorf("%s: %+v of %+v", trial.Treatment, c, s)
			}
		}
		if trial.Treatment != "iperf3" {
			continue
		}
		if s.CountedBy != record.CountedBySender || s.PredictedBps < s.SurplusBps/2 || s.PredictedBps > 2*s.SurplusBps {
			t.Errorf("a surplus of %.1f Mbit/s, predicted %.1f: %+v", s.SurplusBps/1e6, s.PredictedBps/1e6, s)
		}
		if f, ok := found(run, "tool-surplus", "iperf3"); !ok || f.Confidence != record.Certain || f.Host != "a" {
			t.Errorf("finding: %v %+v", ok, f)
		}
		if said := treatment(t, run, "iperf3").ToolReported; said == nil || said.SumBps == 0 {
			t.Errorf("the treatment does not say so: %+v", said)
		}
	}
}

// TestToolsEndWithTheRun: a conductor that is killed leaves no program behind.
func TestToolsEndWithTheRun(t *testing.T) {
	kerneltest.Parallel(t)
	needs(t, "iperf3", "iperf")
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	text, err := os.ReadFile(labFile(t, "tools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// Words by which these very processes are known.
	long := strings.NewReplacer("{from: a, to: b}\n", "{from: a, to: b, tool_args: [-l, 54321]}\n", "1500ms", "60s").Replace(string(text))
	file := filepath.Join(dir, "long.yaml")
	if err := os.WriteFile(file, []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, t.Context(), dir, "run", file, "--trust", "--quiet")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ours := func() []string {
		var pids []string
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			words, _ := os.ReadFile(file)
			if list := strings.Split(string(words), "\x00"); slices.Contains(list, "54321") && strings.HasPrefix(list[0], "iperf") {
				pids = append(pids, file)
			}
		}
		return pids
	}
	deadline := time.Now().Add(time.Minute)
	for len(ours()) == 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	there := len(ours())
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if there == 0 {
		t.Fatal("no program was started within a minute")
	}
	for deadline := time.Now().Add(20 * time.Second); len(ours()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still there: %v", ours())
		}
	}
}

// TestToolNotInstalled: what has to be installed where is said before anything is
// made, and what needs no such program can be run.
func TestToolNotInstalled(t *testing.T) {
	for _, args := range [][]string{
		{"run", labFile(t, "tools.yaml"), "--trust", "--quiet"},
		{"check", labFile(t, "tools.yaml")},
	} {
		cmd := command(t, t.Context(), t.TempDir(), args...)
		cmd.Env = append(slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }), "PATH="+t.TempDir())
		text, _ := cmd.CombinedOutput()
		for _, want := range []string{"a: iperf3 is not installed: apt-get install iperf3\n", "b: iperf is not installed: apt-get install iperf\n", "Nothing was made"} {
			if status := cmd.ProcessState.ExitCode(); status != ExitFailed || !strings.Contains(string(text), want) {
				t.Errorf("%v: exit status %d, want %q in\n%s", args[0], status, want, text)
			}
		}
	}
}
