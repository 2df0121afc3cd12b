package wording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/diagnose"
)

var update = flag.Bool("update", false, "write testdata/*.golden and the table of docs/doctor-rules.md")

// input is what a test gave to Hosts, Diagnose or Around.
type input struct {
	Test     string
	Hosts    []netstate.HostSnapshot
	Trial    *record.Trial
	Topology *topology.Topology
	Run      *record.Run
	Known    []record.Finding
}

// TestFindings compares all findings of testdata/inputs.jsonl.gz and of the snapshots of hosts in
// testdata/snapshots, which have at least one input for each rule, with testdata/findings.golden.
// With -update it writes that file.
func TestFindings(t *testing.T) {
	const golden = "testdata/findings.golden"
	var b bytes.Buffer
	var trials []record.Finding // of one test
	found, last := map[string]bool{}, ""
	for i, in := range append(inputs[input](t, "inputs.jsonl.gz"), snapshots(t)...) {
		if in.Test != last {
			writeMerged(&b, trials)
			trials, last = nil, in.Test
		}
		fmt.Fprintf(&b, "== %s (%d)\n", in.Test, i)
		var findings []record.Finding
		switch {
		case in.Trial != nil:
			found := diagnose.Diagnose(*in.Trial, in.Topology)
			wordless(t, found)
			trials, findings = append(trials, found...), Findings(found, len(in.Topology.Hosts) == 1)
		case in.Run != nil:
			run := *in.Run
			run.Findings = diagnose.Around(in.Run, in.Known)
			findings = Run(&run).Findings
		default:
			e := diagnose.Hosts(in.Hosts)
			wordless(t, e.Findings)
			e = Evaluation(e)
			findings = e.Findings
			writeEvaluation(&b, e)
		}
		for _, f := range findings {
			found[f.ID] = true
			writeFinding(&b, f)
			if what := alreadySo(f, in.Hosts); what != "" {
				t.Errorf("%s (%d): the fix of %s proposes what is so already: %s", in.Test, i, f.ID, what)
			}
		}
	}
	writeMerged(&b, trials)
	for _, r := range diagnose.Rules() {
		if !found[r.ID] {
			t.Errorf("no input for %s", r.ID)
		}
	}
	compare(t, golden, b.String())
}

// wordless fails where a rule has given a finding words. Science cannot import this package, so that what is
// found, merged, left out and proposed is the same whatever the words are.
func wordless(t *testing.T, findings []record.Finding) {
	t.Helper()
	for _, f := range findings {
		if f.Summary != "" || f.Reference != "" || len(f.Evidence)+len(f.Fix)+len(f.Advice) > 0 || len(f.Facts) == 0 {
			t.Errorf("%s of %s has words, or no facts: %+v", f.ID, f.Host, f)
		}
	}
}

// compare compares a text with that of a file, and writes the file with -update.
func compare(t *testing.T, golden, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, expected := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	section, differences := "", 0
	for n := range max(len(got), len(expected)) {
		line, other := "", ""
		if n < len(got) {
			line = got[n]
		}
		if n < len(expected) {
			other = expected[n]
		}
		if strings.HasPrefix(line, "== ") {
			section = line
		}
		if line != other {
			if t.Errorf("%s, line %d:\n got %s\nwant %s", section, n+1, line, other); differences == 10 {
				t.Fatal("and more; -update writes the file")
			}
			differences++
		}
	}
}

// inputs are the lines of a file in testdata.
// snapshots are those in testdata/snapshots, as linerate snapshot prints them.
func snapshots(t *testing.T) (list []input) {
	t.Helper()
	paths, err := filepath.Glob("testdata/snapshots/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no snapshots: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := netstate.ParseHostSnapshot(text)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		list = append(list, input{Test: name, Hosts: []netstate.HostSnapshot{s}})
	}
	return list
}

func inputs[T any](t *testing.T, name string) (list []T) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(text); d.More(); {
		var in T
		if err := d.Decode(&in); err != nil {
			t.Fatal(err)
		}
		list = append(list, in)
	}
	return list
}

func writeFinding(b *bytes.Buffer, f record.Finding) {
	fmt.Fprintf(b, "%s %s %s", f.ID, f.Host, f.Confidence)
	for _, field := range [][2]string{{"treatments", strings.Join(f.Treatments, ", ")}, {"subject", f.Subject},
		{"toward", f.Toward}, {"explained by", f.ExplainedBy}} {
		if field[1] != "" {
			fmt.Fprintf(b, "; %s %s", field[0], field[1])
		}
	}
	if f.Boot {
		b.WriteString("; since boot")
	}
	fmt.Fprintf(b, "\n  summary: %s\n", f.Summary)
	for _, row := range f.Evidence {
		fmt.Fprintf(b, "  evidence: %s\n", row)
	}
	for _, row := range f.Fix {
		fmt.Fprintf(b, "  fix: %s\n", row)
	}
	for _, s := range f.Settings {
		text, _ := json.Marshal(s)
		fmt.Fprintf(b, "  setting: %s\n", text)
	}
	fmt.Fprintf(b, "  reference: %s\n", f.Reference)
	for _, places := range f.Places {
		fmt.Fprintf(b, "  places: %s\n", strings.Join(places, ", "))
	}
}

// writeMerged writes which findings of several trials are one.
func writeMerged(b *bytes.Buffer, findings []record.Finding) {
	for _, f := range Findings(diagnose.Merge(findings), false) {
		fmt.Fprintf(b, "merged: %s %s %s %s: %s\n", f.ID, f.Host, f.Confidence, strings.Join(f.Treatments, ", "),
			f.Summary)
	}
}

// writeEvaluation writes what an evaluation has besides its findings, and for each finding what
// else goes if the user accepts it.
func writeEvaluation(b *bytes.Buffer, e record.Evaluation) {
	fmt.Fprintf(b, "evaluated: %d rules\n", len(e.Evaluated))
	not := map[string]int{}
	for _, u := range e.Unevaluated {
		not[u.Host+", "+u.Why]++
	}
	for _, why := range slices.Sorted(maps.Keys(not)) {
		fmt.Fprintf(b, "unevaluated: %s: %d rules\n", why, not[why])
	}
	for _, d := range e.Drops {
		d.Cause, d.Apart, d.Kind, d.Named, d.MoreRules = "", nil, "", "", 0
		text, _ := json.Marshal(d)
		fmt.Fprintf(b, "drop: %s\n", text)
	}
	for _, f := range e.Findings {
		if len(e.Findings) > 50 {
			break
		}
		other := e
		diagnose.Accept(&other, []record.AcceptedRule{{Rule: f.ID, Host: f.Host, Because: "it is so"}}, "2026-01-01")
		var with []string
		for _, a := range other.Accepted {
			if a.ID != f.ID {
				with = append(with, a.ID+" "+a.Host)
			}
		}
		var rest []string
		for _, r := range other.Findings {
			if r.ExplainedBy != "" {
				rest = append(rest, r.ID+" "+r.Host+" by "+r.ExplainedBy)
			}
		}
		if len(with)+len(rest) > 0 {
			fmt.Fprintf(b, "accepted: %s %s; with it: %s; explained: %s\n", f.ID, f.Host, strings.Join(with, ", "),
				strings.Join(rest, ", "))
		}
	}
}
