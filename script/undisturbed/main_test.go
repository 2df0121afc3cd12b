package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// events is what go test -json prints of tests that take ten seconds each, one after
// the other, and fail where a name has a "!".
func events(names ...string) string {
	var b strings.Builder
	at := noon
	say := func(action, test, output string) {
		fmt.Fprintf(&b, `{"Time":%q,"Action":%q,"Package":"p","Test":%q,"Output":%q}`+"\n", at.Format(time.RFC3339Nano),
			action, test, output)
	}
	for _, name := range names {
		name, failed := strings.CutSuffix(name, "!")
		say("run", name, "")
		say("output", name, "=== RUN   "+name+"\n")
		say("run", name+"/sub", "")
		at = at.Add(10 * time.Second)
		action := "pass"
		if failed {
			action = "fail"
			say("output", name+"/sub", "too slow\n")
		}
		say(action, name+"/sub", "")
		say("output", name, "--- "+strings.ToUpper(action)+": "+name+"\n")
		say(action, name, "")
	}
	say("output", "", "ok  \tp\n")
	return b.String()
}

// judged runs a session whose attempts say one thing after the other, on a machine
// that was taken away for the first so many seconds of each.
func judged(t *testing.T, away []time.Duration, calm bool, attempts ...string) (ok bool, said string,
	patterns []string) {
	t.Helper()
	var out strings.Builder
	s := session{out: &out, maxWait: time.Minute, calm: func(time.Duration) bool { return calm }}
	s.run = func(pattern string) (*attempt, error) {
		if len(patterns) == len(attempts) {
			t.Fatalf("one attempt more, for %s:\n%s", pattern, out.String())
		}
		text := attempts[len(patterns)]
		patterns = append(patterns, pattern)
		a := read(strings.NewReader(text), &out)
		if strings.Contains(text, `"fail"`) || strings.Contains(text, "build") {
			return a, errors.New("exit status 1")
		}
		return a, nil
	}
	s.disturbed = func(begin, _ time.Time) (disturbance, bool) {
		yes := begin.Before(noon.Add(away[len(patterns)-1]))
		return disturbance{stolen: 0.25, hypervisor: true}, yes
	}
	return s.judge("."), out.String(), patterns
}

func TestJudge(t *testing.T) {
	others := strings.Fields("TestC TestD TestE TestF TestG TestH")
	most := append([]string{"TestA!", "TestB!"}, others...)
	for _, c := range []struct {
		name     string
		away     []time.Duration
		calm     bool
		attempts []string
		ok       bool
		again    string   // the pattern of the last attempt
		says     []string // among other things; with "-": not
	}{
		{"all pass", []time.Duration{time.Hour}, true, []string{events("TestA", "TestB")}, true, ".",
			[]string{"ok  \tp\n", "-TestA"}},
		{"a failure is one", []time.Duration{0}, true, []string{events("TestA", "TestB!")}, false, ".",
			[]string{"too slow\n--- FAIL: TestB\n", "-RUN"}},
		{"one that failed disturbed is made again", []time.Duration{5 * time.Second, 0}, true,
			[]string{events("TestA!", "TestB"), events("TestA")}, true, "^(TestA)$",
			[]string{
				"TestA failed while a hypervisor took 25.0 % of the CPU time, tasks waited for a disk for 0 % of " +
					"a second, for a CPU for 0 % of the time:\n    | too slow\n    | --- FAIL: TestA\n"}},
		{"and may be a failure", []time.Duration{15 * time.Second, 5 * time.Second, 0}, true,
			[]string{events(most...), events("TestA!", "TestB"), events("TestA!")}, false, "^(TestA)$",
			[]string{"\n--- FAIL: TestA\n"}},
		{"beside a failure nothing is made again", []time.Duration{5 * time.Second}, true,
			[]string{events("TestA!", "TestB!")}, false, ".", []string{"\n--- FAIL: TestB\n", "-\n--- FAIL: TestA"}},
		{"few are not judged", []time.Duration{time.Hour}, false, []string{events(most[:8]...)}, true, ".",
			[]string{"\nnot judged: 2 of 8 tests failed", "go test -run '^(TestA|TestB)$'"}},
		{"too many are not judged", []time.Duration{time.Hour}, false, []string{events(most[:7]...)}, false, ".",
			[]string{"\nFAIL\ttoo many are not judged on this machine: 2 of 7"}},
		{"a panic is none of a hypervisor's", []time.Duration{time.Hour}, true,
			[]string{events("TestA!") +
				`{"Action":"output","Package":"p","Test":"TestB","Output":"panic: test timed out after 5m0s\n"}` +
				"\n"}, false, ".", []string{"\n--- FAIL: TestA\n", "panic: test timed out"}},
		{"a race neither", []time.Duration{time.Hour}, true,
			[]string{`{"Action":"output","Package":"p","Test":"TestA","Output":"WARNING: DATA RACE\n"}` + "\n" +
				events("TestA!")}, false, ".", []string{"DATA RACE"}},
		{"a build that fails neither", []time.Duration{time.Hour}, true,
			[]string{`{"ImportPath":"p","Action":"build-output","Output":"undefined: x\n"}` + "\n" +
				`{"ImportPath":"p","Action":"build-fail"}` + "\n"}, false, ".",
			[]string{"undefined: x\n", "FAIL\tno test failed, but the command did: exit status 1"}},
		{"what the command says itself", []time.Duration{0}, true, []string{"no C compiler\n" + events("TestA")}, true,
			".", []string{"no C compiler\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok, said, patterns := judged(t, c.away, c.calm, c.attempts...)
			if ok != c.ok || len(patterns) != len(c.attempts) || patterns[len(patterns)-1] != c.again {
				t.Errorf("%t after %q, want %t after %q:\n%s", ok, patterns, c.ok, c.again, said)
			}
			for _, words := range c.says {
				if words, not := strings.CutPrefix(words, "-"); strings.Contains("\n"+said, words) == not {
					t.Errorf("%q, unwanted: %t, in\n%s", words, not, said)
				}
			}
		})
	}
}

// TestExcusedOnce: a wait for a disk, which a test may cause itself, excuses its first failure alone.
func TestExcusedOnce(t *testing.T) {
	var out strings.Builder
	attempts := 0
	s := session{out: &out, maxWait: time.Hour, calm: func(time.Duration) bool { return true },
		disturbed: func(time.Time, time.Time) (disturbance, bool) { return disturbance{disk: 0.9}, true },
		run: func(string) (*attempt, error) {
			attempts++
			return read(strings.NewReader(events("TestA!", "TestB")), &out), errors.New("exit status 1")
		},
	}
	if s.judge(".") || attempts != 2 {
		t.Errorf("%d attempts:\n%s", attempts, out.String())
	}
}

// TestBroken: a command that was ended, and a package that fails without a test of it, are never excused.
func TestBroken(t *testing.T) {
	for name, text := range map[string]string{
		"timeout": events("TestA!"),
		"package": events("TestA") + `{"Action":"fail","Package":"q"}` + "\n",
	} {
		s := session{out: io.Discard, maxWait: time.Hour, calm: func(time.Duration) bool { return true },
			disturbed: func(time.Time, time.Time) (disturbance, bool) {
				return disturbance{stolen: 0.5, hypervisor: true}, true
			},
			run: func(string) (*attempt, error) {
				err := exec.Command("sh", "-c", "exit 1").Run()
				if name == "timeout" {
					err = exec.Command("timeout", "0.1", "sleep", "9").Run()
				}
				return read(strings.NewReader(text), io.Discard), err
			},
		}
		if s.judge(".") {
			t.Errorf("%s: excused", name)
		}
	}
}

// TestMaxWait: the first run of the tests does not count as waiting; after that it ends.
func TestMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		attempts, began := 0, time.Now()
		s := session{out: &out, maxWait: 10 * time.Minute,
			calm: func(left time.Duration) bool { time.Sleep(min(left, time.Minute)); return true },
			disturbed: func(time.Time, time.Time) (disturbance, bool) {
				return disturbance{stolen: 0.5, hypervisor: true}, true
			},
			run: func(string) (*attempt, error) {
				attempts++
				time.Sleep(30 * time.Minute / time.Duration(attempts*attempts))
				return read(strings.NewReader(events("TestA!")), &out), errors.New("exit status 1")
			},
		}
		if s.judge(".") || attempts != 3 || time.Since(began) > 50*time.Minute {
			t.Errorf("%d attempts in %v:\n%s", attempts, time.Since(began), out.String())
		}
	})
}

// TestDisturbed: a hundredth of the whole, or a tenth of any second; for a disk, half of one.
func TestDisturbed(t *testing.T) {
	at := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	// Two processors for 100 s; from the given instant on, seconds are taken.
	taken := func(from, seconds float64) (list []sample) {
		for i := range 501 {
			s := float64(i) / 5
			list = append(list, sample{at: at(s), stolen: max(0, min(s-from, seconds)), of: 2 * s})
		}
		return list
	}
	waited := func(from, seconds float64) []sample {
		list := taken(from, seconds)
		for i := range list {
			list[i].disk, list[i].stolen = list[i].stolen, 0
		}
		return list
	}
	busy := func(from, seconds float64) []sample {
		list := waited(from, seconds)
		for i := range list {
			list[i].cpu, list[i].disk = list[i].disk, 0
		}
		return list
	}
	for _, c := range []struct {
		samples    []sample
		begin, end float64
		share      float64
		yes        bool
	}{
		{taken(0, 0), 0, 100, 0, false},
		{taken(50, 1), 10, 90, 1. / 160, true},     // half of one second
		{taken(50, 0.1), 10, 90, 0.1 / 160, false}, // a twentieth of it
		{taken(50, 0.1), 49, 51, 0.1 / 4, true},    // but a fortieth of so short a test
		{taken(50, 40), 10, 40, 0, false},          // later
		{taken(50, 40), 60, 80, 0.5, true},
		{nil, 0, 100, 0, false},
		{taken(0, 100), 200, 300, 0, false}, // nothing is known of then
		{waited(50, 0.4), 10, 90, 0, false},
		{waited(50, 0.7), 10, 90, 0, true},
		{waited(50, 20), 10, 40, 0, false}, // later
		{busy(50, 5), 40, 90, 0, false},
		{busy(50, 20), 45, 75, 0, true},
	} {
		what, yes := disturbed(c.samples, at(c.begin), at(c.end))
		if yes != c.yes || what.stolen < 0.9*c.share || what.stolen > 1.1*c.share {
			t.Errorf("%g to %g s: %v, %t; want %.4f, %t", c.begin, c.end, what, yes, c.share, c.yes)
		}
	}
}

// TestWatch: the machine's own figures come in, and grow.
func TestWatch(t *testing.T) {
	m := watch(t.Context())
	begin := time.Now()
	spin(300 * time.Millisecond)
	m.look()
	m.mu.Lock()
	first, last := m.samples[0], m.samples[len(m.samples)-1]
	m.mu.Unlock()
	if len(m.samples) < 2 || last.of <= first.of || last.stolen < first.stolen {
		t.Errorf("%d samples, %+v to %+v", len(m.samples), first, last)
	}
	what, _ := m.disturbed(begin, time.Now())
	if what.stolen < 0 || what.stolen > 1 || what.disk < 0 || what.disk > 1.1 {
		t.Errorf("%v", what)
	}
}

// TestSlowest: what a parallel test waits for its turn is not its time.
func TestSlowest(t *testing.T) {
	waited := `{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"p","Test":"TestC"}
{"Time":"2026-01-01T00:00:00Z","Action":"pause","Package":"p","Test":"TestC"}
{"Time":"2026-01-01T00:01:00Z","Action":"cont","Package":"p","Test":"TestC"}
{"Time":"2026-01-01T00:01:09Z","Action":"pass","Package":"p","Test":"TestC"}
`
	a := read(strings.NewReader(events("TestB", "TestA")+waited), new(strings.Builder))
	a.tests["p.TestA"].end = a.tests["p.TestA"].end.Add(time.Second)
	var out strings.Builder
	(&session{out: &out}).times(a)
	if got, want := out.String(), "slowest: TestA 11 s\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
