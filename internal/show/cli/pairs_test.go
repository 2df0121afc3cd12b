package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
	"linerate/internal/show/export"
)

// TestPairs measures between the programs that LINERATE_PROGRAMS names, each with
// each, over the loopback interface: script/portable sets it to this system's build
// and to one with the tag portable.
func TestPairs(t *testing.T) {
	programs := strings.Fields(os.Getenv("LINERATE_PROGRAMS"))
	if len(programs) == 0 {
		t.Skip("LINERATE_PROGRAMS is not set")
	}
	for _, server := range programs {
		at := serveProgram(t, server)
		for _, client := range programs {
			for _, protocol := range flow.Protocols {
				protocol := protocol.Name
				t.Run(client+" to "+server+" "+protocol, func(t *testing.T) {
					judgePair(t, measureWith(t, client, at, "--protocol", protocol), protocol)
				})
			}
			t.Run(client+" to "+server+" read", func(t *testing.T) {
				judgePair(t, measureWith(t, client, at, "--direction", "read", "--streams", "3"), flow.TCP)
			})
			t.Run(client+" to "+server+" paced", func(t *testing.T) {
				m := measureWith(t, client, at, "--protocol", "rr", "--connections", "20", "--pace", "200")
				judgePair(t, m, flow.RR)
				if done := m.Transactions.Done; done > 60 {
					t.Errorf("%d transactions in a quarter of a second at 200/s", done)
				}
			})
		}
	}
}

// serveProgram starts a server on a port that the kernel chooses.
func serveProgram(t *testing.T, program string) (at string) {
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0")
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if at = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(lines.Text()); at != "" {
			break
		}
	}
	go func() {
		for lines.Scan() { // so that the server never waits for a reader
		}
	}()
	return at
}

// measureWith is what a client says, at the third try whatever its checks of counts
// say: one may fail on a busy machine, but not each time.
func measureWith(t *testing.T, program, at string, args ...string) (m export.Measurement) {
	for range 3 {
		m = measureOnce(t, program, at, args...)
		wrong := slices.IndexFunc(m.Trust, func(c record.Check) bool {
			return !c.Pass && slices.Contains([]string{trust.Conservation, trust.Wire, trust.Limit}, c.Check)
		})
		if wrong < 0 {
			return m
		}
		t.Logf("%s: %s", m.Trust[wrong].Check, m.Trust[wrong].Detail)
	}
	t.Error("a check of counts failed three times")
	return m
}

// measureOnce measures; exit status 3 is a doubt, such as of a busy machine.
func measureOnce(t *testing.T, program, at string, args ...string) (m export.Measurement) {
	cmd := exec.Command(program, append([]string{"measure", at, "--json", "--no-save", "--duration", "250ms", "--warmup",
		"100ms"}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 3) {
		t.Fatalf("%v: %s", err, said.String())
	}
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// judgePair holds a measurement to what is true on any machine.
func judgePair(t *testing.T, m export.Measurement, protocol string) {
	if m.ReceivedBytes <= 0 || m.WrittenBytes <= 0 {
		t.Errorf("%d bytes written, %d received", m.WrittenBytes, m.ReceivedBytes)
	}
	for _, f := range m.Flows {
		if !f.Alive || f.Error != "" {
			t.Errorf("%s: %s", f.ID, f.Error)
		}
	}
	for _, c := range m.Trust {
		if !c.Pass && (c.Check == trust.Connected || c.Check == trust.Alive) {
			t.Errorf("%s: %s", c.Check, c.Detail)
		}
	}
	switch x := m.Transactions; {
	case (x == nil) != flow.Of(protocol).Bulk():
		t.Errorf("%s has transactions: %+v", protocol, x)
	case x == nil:
	case x.Done <= 0 || x.Failed != 0 || m.LatencyUs == nil || m.LatencyUs.Count <= 0 || m.LatencyUs.MinUs <= 0:
		t.Errorf("%+v, %+v", x, m.LatencyUs)
	}
	if d := m.Datagrams; (d != nil) != (protocol == flow.UDP) || d != nil && (d.Received <= 0 || d.Sent <= 0) {
		t.Errorf("%s has datagrams: %+v", protocol, d)
	}
	for _, e := range m.Ends {
		// Few requests can cost less than a tick of /proc/stat, which then is 0 CPUs busy.
		read, bulk := e.CPUBusy > 0, flow.Of(protocol).Bulk()
		if missing := len(e.Missing) > 0; e.CPUBusy < 0 || read && missing || !read && !missing && bulk {
			t.Errorf("%s: CPUs %g busy, not read: %q", e.Host, e.CPUBusy, e.Missing)
		}
	}
}
