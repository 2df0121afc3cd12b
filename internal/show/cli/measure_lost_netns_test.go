//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/show/export"
)

// cutOff is a measurement whose server is lost in it.
type cutOff struct {
	args      []string
	book      string
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

func (c *cutOff) start(t *testing.T, host string) {
	t.Helper()
	c.book = filepath.Join(t.TempDir(), "notebook.db")
	c.cmd = in(t, host, append([]string{"measure", "10.0.0.1", "--json", "--quiet", "--warmup", "500ms"}, c.args...)...)
	c.cmd.Env = append(c.cmd.Env, "LINERATE_NOTEBOOK="+c.book)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.errs
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// kept checks the answer of the seconds before, and that the notebook has it.
func (c *cutOff) kept(t *testing.T, host string) (m export.Measurement) {
	t.Helper()
	_ = c.cmd.Wait()
	if status := c.cmd.ProcessState.ExitCode(); status != ExitInterrupted {
		t.Errorf("%v: exit status %d: %s", c.args, status, c.errs.String())
	}
	if err := json.Unmarshal(c.out.Bytes(), &m); err != nil {
		t.Errorf("%v: %v\n%s", c.args, err, c.errs.String())
		return m
	}
	if m.Ended == "" || m.DurationS <= 0 || m.DurationS >= m.PlannedS || m.GoodputBps+m.RatePerS <= 0 ||
		len(m.Ends) != 1 || len(m.Unknown) == 0 {
		t.Errorf("%v: %q after %v of %v s: %v bit/s, %v/s, ends %+v, unknown %q", c.args, m.Ended, m.DurationS,
			m.PlannedS, m.GoodputBps, m.RatePerS, m.Ends, m.Unknown)
	}
	for _, f := range m.Flows {
		if f.Error != "" || !f.Alive {
			t.Errorf("%v: flow %s is of the time after the loss: %q", c.args, f.ID, f.Error)
		}
	}
	for _, d := range m.Directions {
		last := d.Intervals[len(d.Intervals)-1]
		if last.ToS > m.DurationS*1.01 || last.GoodputBps+last.RatePerS <= 0 {
			t.Errorf("%v: %s: the last interval of %v s is %+v", c.args, d.Direction, m.DurationS, last)
		}
	}
	report := in(t, host, "report", m.Run)
	report.Env = append(report.Env, "LINERATE_NOTEBOOK="+c.book)
	text, _ := report.Output() // it fails if a check has
	if words := strings.Join(strings.Fields(string(text)), " "); !strings.Contains(words,
		"Ended early: the connection to the server was lost after") {
		t.Errorf("%v: %s", c.args, text)
	}
	store, err := sqlite.Open(t.Context(), c.book)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if run, err := store.Run(t.Context(), m.Run); err != nil || run.Status != notebook.Interrupted {
		t.Errorf("%v: %v, %+v", c.args, err, run)
	}
	return m
}

// TestMeasureServerKilled: a server that dies is noticed at once, and what this host had
// counted until then is the answer. What only the server counts is an error.
func TestMeasureServerKilled(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		all := map[string]*cutOff{
			"write":   {args: []string{}},
			"read":    {args: []string{"--direction", "read"}},
			"both":    {args: []string{"--direction", "both", "--latency"}},
			"asks":    {args: []string{"--protocol", "rr"}},
			"hears":   {args: []string{"--protocol", "udp", "--rate-cap", "5mbit", "--direction", "read"}},
			"sends":   {args: []string{"--protocol", "udp", "--rate-cap", "5mbit"}},
			"warming": {args: []string{"--warmup", "50s"}},
		}
		var hosts []string
		for host := range all {
			hosts = append(hosts, host)
		}
		slices.Sort(hosts)
		controltest.Wired(t, "100mbit", hosts...)
		s := serving(t)
		began := time.Now()
		for _, host := range hosts {
			all[host].args = append([]string{"--duration", "60s", "--interval", "500ms"}, all[host].args...)
			all[host].start(t, host)
		}
		time.Sleep(14 * time.Second) // the idle phase of --latency is 5 s
		if err := s.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for host, c := range all {
			switch host {
			case "sends", "warming":
				_ = c.cmd.Wait()
				if status := c.cmd.ProcessState.ExitCode(); status != ExitFailed ||
					!strings.Contains(c.errs.String(), "10.0.0.1:5202") || c.out.Len() > 0 ||
					strings.Contains(c.errs.String(), " of 1m; until then write ") != (host == "sends") {
					t.Errorf("%s: exit status %d, %q", host, status, c.errs.String())
				}
			case "both":
				if m := c.kept(t, host); len(m.Directions) != 2 || m.Latency == nil || m.Latency.Loaded == nil {
					t.Errorf("%d directions, latency %+v", len(m.Directions), m.Latency)
				}
			case "asks":
				if m := c.kept(t, host); m.LatencyUs == nil || m.Transactions.Done == 0 {
					t.Errorf("latency %+v", m.LatencyUs)
				}
			default:
				c.kept(t, host)
			}
		}
		if time.Since(began) > 50*time.Second {
			t.Error("it was noticed only at the end")
		}
	})
}

// TestMeasureServerSilent: where nothing comes any more, the answer has no part of the
// silence, and what the client's kernel took meanwhile is not counted.
func TestMeasureServerSilent(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "write", "read")
		serving(t)
		write, read := &cutOff{args: []string{"--duration", "10s"}},
			&cutOff{args: []string{"--duration", "10s", "--direction", "read"}}
		write.start(t, "write")
		read.start(t, "read")
		time.Sleep(6 * time.Second)
		kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", "server", "down")
		for host, c := range map[string]*cutOff{"write": write, "read": read} {
			m := c.kept(t, host)
			for _, d := range m.Directions {
				slowest, fastest := d.Intervals[0].GoodputBps, 0.0
				for _, i := range d.Intervals {
					slowest, fastest = min(slowest, i.GoodputBps), max(fastest, i.GoodputBps)
				}
				if slowest < fastest/2 {
					t.Errorf("%s: intervals of %v to %v bit/s: %+v", host, slowest, fastest, d.Intervals)
				}
			}
		}
	})
}
