//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// provedRun is the run of a prove command; its exit status is 0 or 3.
func provedRun(t *testing.T, dir string, args ...string) (*record.Run, string) {
	t.Helper()
	cmd := command(t, t.Context(), dir, append([]string{"prove", "--json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	run := new(record.Run)
	if err := json.Unmarshal(out.Bytes(), run); err != nil {
		t.Fatalf("%v, status %d: %s", err, cmd.ProcessState.ExitCode(), errs.String())
	}
	if status := cmd.ProcessState.ExitCode(); status != ExitOK && status != ExitDoubt || len(run.Effects) != 1 {
		t.Fatalf("status %d, %d effects: %s", status, len(run.Effects), errs.String())
	}
	return run, errs.String()
}

// refused is what a prove command says that ends with a status and without a run.
func refused(t *testing.T, dir string, status int, args ...string) string {
	t.Helper()
	cmd := command(t, t.Context(), dir, append([]string{"prove"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != status {
		t.Errorf("prove %s: status %d, want %d: %s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), status,
			errs.String())
	}
	return strings.Join(strings.Fields(errs.String()), " ")
}

// TestProveOfRun: the fix of a finding of the latest run is proved on its lab, in the treatment
// in which it was found; of a study whose baseline is tried first, the same.
func TestProveOfRun(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Parallel(t)
	dir := t.TempDir()
	made := runLab(t, dir, controltest.File(t, "small.yaml"), "--seed", "7")
	longer := []string{"--duration", "1s", "--seed", "3"}
	proved, said := provedRun(t, dir, append([]string{"arp-flux"}, longer...)...)
	if e := proved.Effects[0]; e.Verdict != record.Improves || e.To != "the fix of arp-flux" || e.Ratio.Low <= 1 {
		t.Errorf("%+v", e)
	}
	if _, is := controltest.Found(proved, "arp-flux", "as it is"); !is {
		t.Error("arp-flux was not found as it is")
	}
	if _, is := controltest.Found(proved, "arp-flux", "the fix of arp-flux"); is {
		t.Error("arp-flux was found with its fix")
	}
	if proved.Study != "prove-arp-flux" ||
		!strings.Contains(proved.Again, "linerate prove arp-flux --duration 1s --run "+made.ID+" --seed 3") {
		t.Errorf("study %s, again %s", proved.Study, proved.Again)
	}
	if !strings.Contains(said, `of "kernel defaults" in run `+made.ID) ||
		!strings.Contains(said, "6 blocks of 2 trials") {
		t.Error(said)
	}
	for args, want := range map[string]string{
		"arp-flx":                   `did you mean "arp-flux"?`,
		"sack-off --run " + made.ID: "sack-off was not found in run " + made.ID + "; found was: arp-flux",
		"arp-flux --treatment x --run " + made.ID:    `, but in: kernel defaults`,
		"arp-flux --run x --host y":                  "expected one of a study, --run, and --host",
		"arp-flux --network 10.0.0.0/8":              "--network: expected with --host or --via",
		"arp-flux --via a --via b --via c":           "3 hosts: expected two",
		"arp-flux --run " + made.ID + " --network x": "expected a subnet",
	} {
		status := ExitUsage
		if strings.HasPrefix(args, "sack") {
			status = ExitDoubt
		}
		if said := refused(t, dir, status, strings.Fields(args)...); !strings.Contains(said, want) {
			t.Errorf("prove %s: %s, want %s", args, said, want)
		}
	}

	own, said := provedRun(t, dir, append([]string{"arp-flux", controltest.File(t, "small.yaml"), "--replicates", "4"},
		longer...)...)
	if e := own.Effects[0]; e.Verdict != record.Improves && e.Ratio.Mean < 1.5 || own.Design.Replicates != 4 {
		t.Errorf("%d blocks, %+v", own.Design.Replicates, e)
	}
	if !strings.Contains(said, "first as it is, 1 trial") {
		t.Error(said)
	}
}

// rmem is a receive buffer of 64 KiB at most.
const rmem = "4096 65536 131072"

// proveHosts makes hosts with a cable, of which b has small receive buffers.
func proveHosts(t *testing.T) (dir string, via []string) {
	t.Helper()
	dir = t.TempDir()
	twoHosts(t, "tbf rate 20mbit burst 5000 limit 100k")
	kerneltest.Do(t, "ip", "netns", "exec", "b", "sysctl", "-q", "-w", "net.ipv4.tcp_rmem="+rmem)
	return dir, []string{"--via", "b=ip netns exec b", "--via", "a=ip netns exec a"}
}

func rmemOfB(t *testing.T) string {
	t.Helper()
	return strings.Join(strings.Fields(kerneltest.Do(t, "ip", "netns", "exec", "b", "sysctl", "-n",
		"net.ipv4.tcp_rmem")), " ")
}

// proveBuffer proves the fix of b's receive buffer with traffic from a, and leaves b as it was.
func proveBuffer(t *testing.T, dir string, rmemOfB func() string, args ...string) record.Effect {
	t.Helper()
	before := rmemOfB()
	proved, _ := provedRun(t, dir, append([]string{"receive-buffer-small", "--yes", "--duration", "1s", "--seed", "5"},
		args...)...)
	for _, trial := range proved.Trials {
		for _, f := range trial.Flows {
			if f.From != "a" || f.To != "b" {
				t.Errorf("a flow from %s to %s", f.From, f.To)
			}
		}
	}
	if after := rmemOfB(); proved.Environment.Mode != "real hosts" || after != before {
		t.Errorf("%s; tcp_rmem was %s, and is %s", proved.Environment.Mode, before, after)
	}
	return proved.Effects[0]
}

// TestProveOverDelay: the fix of a receive buffer that doctor finds improves goodput over a path
// with delay. The hosts, of a lab that is kept up, are reached by a command.
func TestProveOverDelay(t *testing.T) {
	kerneltest.Long(t)
	l := labUpFor(t, "delay.yaml")
	l.ask(t, "b", "sysctl", "-q", "-w", "net.ipv4.tcp_rmem=4096 16384 32768")
	via := func(host string) string {
		return "--via=" + host + "=linerate lab exec --lab " + l.name + " " + host + " --"
	}
	e := proveBuffer(t, l.dir, func() string { return l.ask(t, "b", "sysctl", "-n", "net.ipv4.tcp_rmem") },
		via("a"), via("b"))
	if e.Verdict != record.Improves || e.Ratio.Low < 1.3 {
		t.Errorf("%+v", e)
	}
}

// TestProveWithoutDelay: without delay the same fix makes no difference.
func TestProveWithoutDelay(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir, via := proveHosts(t)
		// On a busy machine the interval may be wider than the margin, around no difference.
		if e := proveBuffer(t, dir, func() string { return rmemOfB(t) }, via...); e.Verdict != record.NoDifference &&
			e.Verdict != record.Inconclusive || e.Ratio.Low > 1 || e.Ratio.High < 1 &&
			e.Verdict == record.Inconclusive {
			t.Errorf("%+v", e)
		}
	})
}

// TestProveAsks: real hosts are not changed without --yes where there is no terminal; a finding
// that is not there, or that no setting removes, is said to be so.
func TestProveAsks(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir, via := proveHosts(t)
		kerneltest.Do(t, "ip", "-n", "b", "route", "add", "blackhole", "10.9.0.0/16")
		if said := refused(t, dir, ExitUsage, append([]string{"receive-buffer-small"}, via...)...); !strings.Contains(
			said, "b: sysctl net.ipv4.tcp_rmem=4096 131072 6291456") ||
			!strings.Contains(said, "--yes; nothing was changed") {
			t.Error(said)
		}
		if said := refused(t, dir, ExitDoubt, append([]string{"sack-off"}, via...)...); !strings.Contains(said,
			"sack-off was not found on b and a; found was:") {
			t.Error(said)
		}
		if said := refused(t, dir, ExitDoubt, append([]string{"blackhole-route"}, via...)...); !strings.Contains(said,
			"no setting that linerate can apply and revert removes blackhole-route; its fix: on b: ip route del") {
			t.Error(said)
		}
		if said := refused(t, dir, ExitUsage, append([]string{"receive-buffer-small", "--network", "10.7.0.0/24"},
			via...)...); !strings.Contains(said, "they share: 10.0.0.0/24") {
			t.Error(said)
		}
		if got := rmemOfB(t); got != rmem {
			t.Errorf("tcp_rmem is %s", got)
		}
	})
}

// TestProveInterrupted: a host has its own value again after SIGINT, at any time: here while
// the fix is applied.
func TestProveInterrupted(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir, via := proveHosts(t)
		cmd := command(t, t.Context(), dir,
			append([]string{"prove", "receive-buffer-small", "--yes", "--set", "workload.warmup=5s"}, via...)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until := time.Now().Add(2 * time.Minute)
		applied := 0 // in a row: not while the settings of each level are checked
		for applied < 5 && time.Now().Before(until) {
			time.Sleep(100 * time.Millisecond)
			if applied++; rmemOfB(t) == rmem {
				applied = 0
			}
		}
		_ = cmd.Process.Signal(os.Interrupt)
		err := cmd.Wait()
		if applied < 5 || rmemOfB(t) != rmem {
			t.Errorf("applied %d times; tcp_rmem is %s, was %s: %v, %s", applied, rmemOfB(t), rmem, err, errs.String())
		}
		if exit, is := err.(*exec.ExitError); !is || exit.ExitCode() != ExitInterrupted {
			t.Errorf("%v, want status %d: %s", err, ExitInterrupted, errs.String())
		}
	})
}
