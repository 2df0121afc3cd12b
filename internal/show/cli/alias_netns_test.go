//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/limits"
)

// aliased is a server and a client in a namespace whose journals are its own.
func aliased(t *testing.T, rate string) {
	t.Helper()
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/var/lib")
	controltest.Wired(t, rate, "client")
}

func aliases(t *testing.T, host, of string) int {
	t.Helper()
	return strings.Count(kerneltest.Do(t, "ip", "-n", host, "-o", "address", "show", "dev", "eth0"), " "+of)
}

func journals(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("/var/lib/linerate/journal-*")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAliases: one command on each side makes the addresses, a listener and a flow
// for each, and takes everything away again.
func TestAliases(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		aliased(t, "100mbit")
		before := kerneltest.Do(t, "ip", "-n", "server", "-4", "-o", "address") + kerneltest.Do(t, "ip", "-n", "client",
			"-4", "-o", "address")
		const n = 130 // more than a server's usual flows
		s := serving(t, "--alias", fmt.Sprintf("eth0=10.0.2.1-%d/16", n))
		s.until(t, fmt.Sprintf("added %d addresses", n), 1)
		if got := aliases(t, "server", "10.0.2."); got != n {
			t.Fatalf("%d aliases, want %d", got, n)
		}
		m, status, said := measured(t, "client", fmt.Sprintf("10.0.2.1-%d", n), "--alias",
			fmt.Sprintf("eth0=10.0.{3..4}.1-%d/16", n/2), "--duration", "1s", "--quiet=false")
		if status != ExitOK && status != ExitDoubt || !strings.Contains(said, fmt.Sprintf("added %d addresses", n)) {
			t.Fatalf("exit status %d: %s", status, said)
		}
		if text := doubts(m); text != "" {
			t.Error(text)
		}
		flows, sum := map[string]int{}, 0.0
		for _, a := range m.Addresses {
			flows[a.Host] += a.Flows
			if a.Flows != 1 {
				t.Errorf("%+v: want one flow", a)
			}
			if a.Host == "server" {
				sum += a.WriteBps
			}
		}
		if len(m.Addresses) != 2*n || flows["server"] != n || flows["client"] != n {
			t.Errorf("%d addresses with flows %v, want %d on each side", len(m.Addresses), flows, n)
		}
		if limit := 100e6 * (limits.Frame{Shaped: true}).Fraction(); sum < 0.8*limit ||
			sum > controltest.Fuller*limit ||
			sum/m.GoodputBps < 0.999 || sum/m.GoodputBps > 1.001 {
			t.Errorf("addresses together %.0f, all flows %.0f, the limit is %.0f", sum, m.GoodputBps, limit)
		}
		if err := s.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		s.ends(t)
		if after := kerneltest.Do(t, "ip", "-n", "server", "-4", "-o", "address") + kerneltest.Do(t, "ip", "-n",
			"client", "-4", "-o", "address"); after != before {
			t.Errorf("before\n%safter\n%s", before, after)
		}
		if left := journals(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestAliasesAfterKill: the guard of a server that is killed removes its addresses. If it
// is killed as well they stay, the next server says so and changes nothing, and recover
// removes them.
func TestAliasesAfterKill(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		aliased(t, "1gbit")
		killed := func(guards bool) {
			s := serving(t, "--alias", "eth0=10.0.2.1-254/16", "--listen", ":5202")
			if guards {
				tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.Process.Pid))
				if err != nil {
					t.Fatal(err)
				}
				for _, task := range tasks {
					for _, child := range strings.Fields(kerneltest.Do(t, "cat", task)) {
						kerneltest.Do(t, "kill", "-KILL", child)
					}
				}
			}
			if n := aliases(t, "server", "10.0.2."); n != 254 {
				t.Fatalf("%d aliases, want 254", n)
			}
			if err := s.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			s.ends(t)
		}
		killed(false)
		for end := time.Now().Add(time.Minute); aliases(t, "server", "10.0.2.") > 0 ||
			len(journals(t)) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the addresses of a server that was killed are still there")
			}
		}
		killed(true)
		out, err := in(t, "server", "serve", "--alias", "eth0=10.0.3.1-2/16").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "linerate recover") {
			t.Errorf("%v: %s", err, out)
		}
		out, err = in(t, "server", "recover").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "reverted   address 10.0.2.1/16 to 10.0.2.254/16 on eth0") {
			t.Errorf("%v: %s", err, out)
		}
		if n := aliases(t, "server", "10.0."); n != 1 {
			t.Errorf("%d addresses, want the one that was there", n)
		}
		if left := journals(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestAliasesRefused: what keeps addresses from being added is reported, and nothing is
// left of those that were.
func TestAliasesRefused(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		aliased(t, "1gbit")
		refused := func(words string, wrap []string, args ...string) {
			t.Helper()
			cmd := in(t, "client", args...)
			if len(wrap) > 0 {
				cmd.Args = append(append(append([]string{}, cmd.Args[:4]...), wrap...), cmd.Args[4:]...)
			}
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), words) {
				t.Errorf("%v: %v: %s", args, err, out)
			}
			if n := aliases(t, "client", "10.0."); n != 1 {
				t.Errorf("%v: %d addresses, want the one that was there", args, n)
			}
		}
		refused("eth9", nil, "serve", "--alias", "eth9=10.0.2.1-254/16")
		refused("10.0.0.2 present as 10.0.0.2/24", nil, "serve", "--alias", "eth0=10.0.0.1-9/16")
		// No server answers there: what was added is removed after the failure.
		refused("10.0.0.77", nil, "measure", "10.0.0.77", "--alias", "eth0=10.0.2.1-254/16", "--source", "10.0.2.1")
		setpriv := []string{"setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"}
		refused("the capability CAP_NET_ADMIN", setpriv, "serve", "--alias", "eth0=10.0.2.1-254/16")
		if _, err := os.Stat("/var/lib/linerate"); err != nil {
			t.Error(err) // the journals have been in this namespace
		}
	})
}

// TestTenThousandAliases: they are there, they are measured, and nothing is left.
func TestTenThousandAliases(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		aliased(t, "100mbit")
		before := kerneltest.Do(t, "ip", "-n", "server", "-4", "-o", "address") + kerneltest.Do(t, "ip", "-n", "server",
			"-4", "route", "show", "table", "all")
		kerneltest.Do(t, "ip", "-n", "client", "route", "add", "10.1.0.0/16", "dev", "eth0")
		s := serving(t, "--alias", "eth0=10.1.0.1-10.1.39.16/16", "--listen", ":5202")
		if n := aliases(t, "server", "10.1."); n != 10_000 {
			t.Fatalf("%d aliases, want 10000", n)
		}
		m, status, said := measured(t, "client", "10.1.{0..38}.77", "10.1.39.16", "--protocol", "crr",
			"--duration", "500ms")
		if status != ExitOK && status != ExitDoubt || len(m.Addresses) != 40 || m.RatePerS == 0 ||
			m.Transactions.Failed != 0 {
			t.Errorf("exit status %d: %d addresses, %+v: %s", status, len(m.Addresses), m.Transactions, said)
		}
		if err := s.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		s.ends(t)
		if after := kerneltest.Do(t, "ip", "-n", "server", "-4", "-o", "address") + kerneltest.Do(t, "ip", "-n",
			"server", "-4", "route", "show", "table", "all"); after != before {
			t.Errorf("before\n%safter\n%s", before, after)
		}
		if left := journals(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
