//go:build linux

package rounds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/control/reach"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/mesh"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/science/trust"
)

func TestMain(m *testing.M) { controltest.Main(m) }

// names are the hosts of a switch, in the order of controltest.Wired.
func names(n int) (list []string) {
	list = []string{"server"}
	for i := 2; i <= n; i++ {
		list = append(list, fmt.Sprintf("n%d", i))
	}
	return list
}

// shifts is a plan in which each host sends to another one in each round.
func shifts(hosts []string, rounds int) *mesh.Plan {
	p := &mesh.Plan{Schema: mesh.Schema, Pattern: mesh.Shifts, Seed: 7}
	for _, h := range hosts {
		p.Hosts = append(p.Hosts, mesh.Host{Name: h})
	}
	for k := 1; k <= rounds; k++ {
		var round []mesh.Pair
		for i := range hosts {
			round = append(round, mesh.Pair{i, (i + k) % len(hosts)})
		}
		p.Rounds = append(p.Rounds, round)
	}
	return p
}

// reachable are hosts in namespaces of their names.
func reachable(names []string) (list []Host) {
	for _, name := range names {
		list = append(list, Host{Host: reach.Host{Name: name, Called: name,
			Via: []string{"ip", "netns", "exec", name}}})
	}
	return list
}

// quick are options for tests.
func quick() Options {
	return Options{Warmup: 200 * time.Millisecond, Duration: 300 * time.Millisecond, limit: 10 * time.Second}
}

// concluded reports whether a run concludes from exactly the pairs that could be judged: on a busy machine the
// edges of windows are read late.
func concluded(r *record.Run) bool {
	sound := map[[2]string]bool{}
	for _, t := range r.Trials {
		for _, f := range t.Flows {
			if f.Doubt == "" && t.Order <= len(r.Mesh.Plan.Rounds) {
				sound[[2]string{f.From, f.To}] = true
			}
		}
	}
	c := r.Mesh.Conclusion
	return c == nil && len(sound) == 0 || c != nil && c.Pairs == len(sound)
}

func opened(t *testing.T) notebook.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), t.TempDir()+"/notebook.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// byHost are the medians of what each host sends and receives.
func byHost(r *record.Run) (sends, receives map[string]float64) {
	s, d := map[string][]float64{}, map[string][]float64{}
	for _, t := range r.Trials[:len(r.Mesh.Plan.Rounds)] {
		for _, f := range t.Flows {
			s[f.From], d[f.To] = append(s[f.From], f.GoodputBps), append(d[f.To], f.GoodputBps)
		}
	}
	sends, receives = map[string]float64{}, map[string]float64{}
	for h := range s {
		sends[h], receives[h] = stats.Median(s[h]), stats.Median(d[h])
	}
	return sends, receives
}

// TestSlowHost: of 12 hosts, the pairs of one that receives at a tenth of the rate are slow, and no
// others.
func TestSlowHost(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		list := names(12)
		controltest.Wired(t, "50mbit", list[1:]...)
		kerneltest.Do(t, "tc", "-n", "sw", "qdisc", "change", "dev", "n5", "root", "tbf", "rate", "5mbit", "burst",
			"5000", "limit", "10k") // a longer queue would delay acknowledgements, too
		run, err := New(t.Context(), shifts(list, 3), reachable(list), opened(t), quick())
		if err != nil {
			t.Fatal(err)
		}
		planned := len(run.Mesh.Plan.Rounds)
		if run.Status != notebook.Complete || len(run.Trials) != planned+len(run.Mesh.Again) ||
			len(run.Mesh.Lost) > 0 {
			t.Fatalf("%s, %d rounds, lost %v", run.Status, len(run.Trials), run.Mesh.Lost)
		}
		sends, receives := byHost(run)
		usual := stats.Median(slices.Collect(maps.Values(receives)))
		for _, h := range list {
			if got := receives[h]; got == 0 || (got < usual/3) != (h == "n5") {
				t.Errorf("%s receives %.3g, and the median is %.3g", h, got, usual)
			}
			if sends[h] == 0 {
				t.Errorf("%s sends nothing", h)
			}
		}
		for _, f := range run.Trials[0].Flows {
			if f.LimitBps < 40e6 || f.LimitBps > 50e6 {
				t.Errorf("%s to %s: limit %.4g", f.From, f.To, f.LimitBps)
			}
		}
		if c := run.Mesh.Conclusion; !concluded(run) || c != nil && c.Wanted != 36 {
			t.Errorf("concluded %+v", c)
		}
	})
}

// signalled sends a signal to the agent of a node that this process has started, and returns when it has.
func signalled(t *testing.T, node string, signal syscall.Signal) {
	t.Helper()
	kerneltest.Await(t, "an agent of "+node, func() bool {
		processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		own := fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())
		for _, p := range processes {
			text, _ := os.ReadFile(p)
			words := strings.Split(string(text), "\x00")
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(p)))
			status, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "status"))
			if !strings.Contains(string(status), own) {
				continue // another test may have such a node
			}
			if len(words) > 1 && words[1] == "agent" && slices.Contains(words, node) &&
				syscall.Kill(pid, signal) == nil {
				return true
			}
		}
		return false
	})
}

// during calls do once, in the window of a round.
func during(round int, do func()) func(Progress) {
	var once sync.Once
	return func(p Progress) {
		if p.Phase == "measuring" && p.Done == round-1 {
			once.Do(func() { time.AfterFunc(400*time.Millisecond, do) })
		}
	}
}

// TestAgentLost: a host whose agent is killed or stopped in a round is reported with the reason; its
// pairs are left out from then on, and everything else is measured, that round included.
func TestAgentLost(t *testing.T) {
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		reason reach.Reason
	}{{"killed", syscall.SIGKILL, reach.Ended}, {"stopped", syscall.SIGSTOP, reach.TimedOut}} {
		t.Run(test.name, func(t *testing.T) {
			kerneltest.InNamespace(t, func(t *testing.T) {
				list := names(6)
				controltest.Wired(t, "50mbit", list[1:]...)
				o := quick()
				o.limit, o.Duration = 2*time.Second, time.Second
				o.Progress = during(2, func() { signalled(t, "h3", test.signal) })
				run, err := New(t.Context(), shifts(list, 3), reachable(list), opened(t), o)
				if err != nil {
					t.Fatal(err)
				}
				if l := run.Mesh.Lost; len(l) != 1 || l[0].Host != "n3" || l[0].Reason != string(test.reason) ||
					l[0].Round != 2 || run.Status != notebook.Complete {
					t.Errorf("%s: lost %+v", run.Status, l)
				}
				for i, want := range []int{6, 4, 4} {
					if i >= len(run.Trials) || len(run.Trials[i].Flows) != want {
						t.Fatalf("%d rounds; round %d: expected %d pairs", len(run.Trials), i+1, want)
					}
					for _, f := range run.Trials[i].Flows {
						if !f.Connected || f.GoodputBps < 10e6 || i > 0 && (f.From == "n3" || f.To == "n3") {
							t.Errorf("round %d: %s to %s: %.3g, %s", i+1, f.From, f.To, f.GoodputBps, f.Error)
						}
					}
				}
			})
		})
	}
}

// TestUnreached: hosts that cannot be reached or measured are lost with their reasons before the first
// round; with one host left the mesh ends, and is not kept.
func TestUnreached(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		list := names(4)
		controltest.Wired(t, "50mbit", list[1:]...)
		hosts := append(reachable(list), Host{Host: reach.Host{Name: "gone", Via: []string{"false"}}},
			Host{Host: reach.Host{Name: "isolated", Via: []string{"unshare", "-n"}}})
		all := append(slices.Clone(list), "gone", "isolated")
		run, err := New(t.Context(), shifts(all, 2), hosts, nil, quick())
		if err != nil {
			t.Fatal(err)
		}
		reasons := map[string]string{}
		for _, l := range run.Mesh.Lost {
			reasons[l.Host] = l.Reason
		}
		if !maps.Equal(reasons, map[string]string{"gone": string(reach.Ended), "isolated": string(noAddress)}) {
			t.Errorf("lost %+v", run.Mesh.Lost)
		}
		if len(run.Trials) != 2 || len(run.Trials[0].Flows) != 3 {
			t.Errorf("%d rounds", len(run.Trials))
		}
		store := opened(t)
		_, err = New(t.Context(), shifts(all[3:], 2), hosts[3:], store, quick())
		kept, _ := store.Runs(t.Context(), notebook.Filter{})
		if !errors.Is(err, ErrTooFew) || len(kept) > 0 {
			t.Errorf("with one host: %v, %d runs", err, len(kept))
		}
	})
}

// TestPairFails: a host that one peer alone cannot reach, or that cannot listen at the address that
// was given, fails these pairs and is not lost.
func TestPairFails(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		list := names(4)
		controltest.Wired(t, "50mbit", list[1:]...)
		kerneltest.Do(t, "ip", "-n", "n2", "route", "add", "unreachable", "10.0.0.3/32")
		hosts := reachable(list)
		hosts[3].Address = netip.MustParseAddr("10.9.9.9")
		o := quick()
		o.connect = time.Second
		run, err := New(t.Context(), shifts(list, 2), hosts, opened(t), o)
		if err != nil || len(run.Mesh.Lost) > 0 {
			t.Fatal(err, run.Mesh.Lost)
		}
		failed := map[string]bool{}
		for _, r := range run.Trials {
			for _, f := range r.Flows {
				if !f.Connected {
					failed[f.From+">"+f.To] = true
				}
				if f.Connected == (f.Error != "") || f.Connected == (f.GoodputBps == 0) {
					t.Errorf("%s to %s: %.3g, %q", f.From, f.To, f.GoodputBps, f.Error)
				}
			}
		}
		want := []string{"n2>n3", "n2>n4", "n3>n4", "n4>n2", "n4>server"}
		if got := slices.Sorted(maps.Keys(failed)); !slices.Equal(got, want) {
			t.Errorf("failed: %v, want %v", got, want)
		}
	})
}

// TestForeignTraffic: a pair at whose interface other traffic passes in the window is not judged.
func TestForeignTraffic(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		list := names(4)
		controltest.Wired(t, "50mbit", list[1:]...)
		kerneltest.Needs(t, "bash")
		ctx, cancel := context.WithCancel(t.Context())
		other := exec.CommandContext(ctx, "ip", "netns", "exec", "n3", "bash", "-c", // to a port that nobody has
			"while :; do printf %1400s >/dev/udp/10.0.0.4/9; done")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cancel(); _ = other.Wait() }()
		o := quick()
		o.Duration = time.Second
		run, err := New(t.Context(), &mesh.Plan{Schema: mesh.Schema, Pattern: mesh.Triage, Hosts: shifts(list, 0).Hosts,
			Rounds: [][]mesh.Pair{{{0, 1}, {2, 3}}}}, reachable(list), nil, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range run.Trials[0].Flows {
			if foreign := f.Doubt == trust.Foreign; foreign != (f.From == "n3") {
				t.Errorf("%s to %s: doubt %q", f.From, f.To, f.Doubt)
			}
		}
		if c := run.Mesh.Conclusion; !concluded(run) || c != nil && c.Wanted != 2 {
			t.Errorf("concluded %+v", c)
		}
	})
}

// TestResume: a mesh whose conductor was killed is continued behind the rounds that were saved, and
// not by two at once.
func TestResume(t *testing.T) {
	const child = "LINERATE_TEST_MESH"
	plan := shifts(names(4), 3)
	o := quick()
	if path := os.Getenv(child); path != "" {
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		o.Progress = during(3, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		_, err = New(t.Context(), plan, reachable(names(4)), store, o)
		t.Fatal("not killed", err)
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", names(4)[1:]...)
		path := t.TempDir() + "/notebook.db"
		self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestResume$")
		self.Env = append(os.Environ(), child+"="+path)
		out, err := self.CombinedOutput()
		if self.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%v: %s", err, out)
		}
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		kept, err := store.Runs(t.Context(), notebook.Filter{})
		if err != nil || len(kept) != 1 || kept[0].Status != notebook.Interrupted || kept[0].Trials != 2 {
			t.Fatalf("%+v, %v", kept, err)
		}
		var held error
		var once sync.Once
		run, err := Resume(t.Context(), store, kept[0].ID, Options{Progress: func(Progress) {
			once.Do(func() {
				other, err := sqlite.Open(t.Context(), path)
				if err == nil {
					_, held = Resume(t.Context(), other, kept[0].ID, Options{})
					other.Close()
				}
			})
		}})
		if err != nil || !errors.Is(held, notebook.ErrHeld) {
			t.Fatalf("%v; the other: %v", err, held)
		}
		again, err := store.Run(t.Context(), run.ID)
		if err != nil || again.Status != notebook.Complete || len(again.Trials) != 3 || again.Trials[0].Started !=
			run.Trials[0].Started || !run.Trials[2].Started.After(run.Trials[1].Started) {
			t.Errorf("%v: %s, %d rounds", err, again.Status, len(again.Trials))
		}
		if w := again.Trials[2].WindowS; w != o.Duration.Seconds() {
			t.Errorf("a window of %v s", w)
		}
		if _, err := Resume(t.Context(), store, run.ID, Options{}); !errors.Is(err, notebook.ErrComplete) {
			t.Errorf("a complete mesh: %v", err)
		}
	})
}

// TestInterrupted: the rounds before an interruption are kept.
func TestInterrupted(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", names(4)[1:]...)
		ctx, cancel := context.WithCancel(t.Context())
		o, store := quick(), opened(t)
		o.Progress = during(2, cancel)
		run, err := New(ctx, shifts(names(4), 3), reachable(names(4)), store, o)
		if err == nil || run == nil {
			t.Fatal(run, err)
		}
		kept, err := store.Run(t.Context(), run.ID)
		if err != nil || kept.Status != notebook.Interrupted || kept.Error != "" || len(kept.Trials) != 1 {
			t.Errorf("%v: %s, %q, %d rounds", err, kept.Status, kept.Error, len(kept.Trials))
		}
	})
}
