package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func text(t *testing.T, run *record.Run, opts TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, run, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	all := variants()
	for name, opts := range map[string]TextOptions{
		"arp-flux":       {Page: "runs/arp-flux-7/report.html"},
		"arp-flux.wide":  {Width: 120, Page: "runs/arp-flux-7/report.html"},
		"in-doubt":       {},
		"two-factors":    {},
		"interfaces-100": {},
		"empty":          {},
		// Judged by something else than goodput, or by several responses.
		"loaded":         {},
		"loaded-goodput": {Width: 100},
		"loaded-alone":   {},
		"lossy":          {},
		// A list taken apart, in each of two conditions.
		"ablated": {},
	} {
		run, _, _ := strings.Cut(name, ".")
		got := text(t, all[run], opts)
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s (go test -update writes it anew):\n%s", name, path, got)
		}
	}
}

func TestTextFits(t *testing.T) {
	for name, run := range variants() {
		for _, width := range []int{80, 100, 160} {
			for _, line := range strings.Split(text(t, run, TextOptions{Width: width}), "\n") {
				if cells(line) > width {
					t.Errorf("%s at %d columns: a line of %d: %s", name, width, cells(line), line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("%s: spaces at the end of %q", name, line)
				}
			}
		}
	}
}

func TestTextColorChangesNothingElse(t *testing.T) {
	attributes := regexp.MustCompile("\x1b\\[[0-9]+m")
	for name, run := range variants() {
		plainText := text(t, run, TextOptions{})
		colored := text(t, run, TextOptions{Color: true})
		if strings.Contains(plainText, "\x1b") {
			t.Errorf("%s: escape sequences without Color", name)
		}
		if len(run.Treatments) > 0 && !strings.Contains(colored, "\x1b[1m") {
			t.Errorf("%s: no colour with Color", name)
		}
		bare := regexp.MustCompile(" +\n").ReplaceAllString(attributes.ReplaceAllString(colored, ""), "\n")
		if bare != plainText {
			t.Errorf("%s: colour changes the words:\n%s\n%s", name, bare, plainText)
		}
	}
}

func TestTextPutsDoubtBesideTheAnswer(t *testing.T) {
	all := variants()
	for name, want := range map[string]string{
		"in-doubt":    "In doubt: 11 of 56 trials failed a trust check (limit)",
		"interrupted": "Interrupted: these are the figures of 56 finished trials",
		"budget":      "The budget ran out after 4 of 6 blocks.",
		"wide":        "The budget ran out before every interval was as narrow as asked: 12 of 12",
		"blocks":      "The run ended after 4 blocks, its greatest number: 12 of 12",
	} {
		got := text(t, all[name], TextOptions{})
		at, table := strings.Index(got, want), strings.Index(got, "treatment  ")
		if at < 0 || at > table {
			t.Errorf("%s: %q is not above the table:\n%s", name, want, got)
		}
	}
	if got := text(t, all["arp-flux"], TextOptions{}); strings.Contains(got, "!") {
		t.Errorf("a sound run carries a warning:\n%s", got)
	}
}

func TestUnconnectedFlowsWarnUnlessAllowed(t *testing.T) {
	run := arpFlux()
	if got := newView(run).warnings(); len(got) != 0 {
		t.Errorf("flows that may fail to connect gave %q", got)
	}
	for i := range run.Trials {
		run.Trials[i].Unreachable = false
	}
	got := newView(run).warnings()
	if len(got) != 2 || got[0] != "6 of 8 flows could not connect in 4 of 4 trials: arp + rp_filter=1, writes." {
		t.Errorf("flows that had to connect gave %q", got)
	}
}

func TestFindingsOfALevelAreExplainedOnce(t *testing.T) {
	run := arpFlux()
	level := run.Treatments[len(run.Treatments)-1].Name
	f := record.Finding{ID: "x", Host: "server", Confidence: record.Certain, Summary: "s", Evidence: []string{"a clue"}, Fix: []string{"ip mend"}, Treatments: []string{level}}
	run.Findings = []record.Finding{f, f}
	if got := text(t, run, TextOptions{}); strings.Count(got, "a clue") != 1 || strings.Count(got, "fix: ip mend") != 1 {
		t.Errorf("expected evidence and fix once:\n%s", got)
	}
	run.Findings[0].Confidence, run.Findings[1].Confidence = record.Possible, record.Possible
	if got := text(t, run, TextOptions{}); strings.Contains(got, "ip mend") {
		t.Errorf("a mere possibility of a level has a fix:\n%s", got)
	}
}

func TestWhyARunFailed(t *testing.T) {
	run := arpFlux()
	run.Status, run.Error = "interrupted", "the agent of server ended"
	if got := text(t, run, TextOptions{}); !strings.Contains(got, "! linerate failed: the agent of server ended") {
		t.Errorf("the reason is missing:\n%s", got)
	}
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if err := Writable(filepath.Join(dir, "runs", "x")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if Writable(file) == nil || Writable(filepath.Join(file, "runs")) == nil {
		t.Error("a file passes for a directory")
	}
}

func TestCommandsStayCommands(t *testing.T) {
	term := &terminal{width: 50}
	command := "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 net.ipv4.conf.all.rp_filter=2"
	term.command("  fix: ", "       ", command)
	got := term.out.String()
	if joined := strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimPrefix(got, "  fix: "), "\\\n", " ")), " "); joined != command {
		t.Errorf("pasted, the fix reads %q", joined)
	}
	if strings.Count(got, "\\\n") != 2 {
		t.Errorf("expected two continued lines:\n%s", got)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text     string
		n, first int
		want     string
	}{
		{"", 10, 10, ""},
		{"one two three", 8, 8, "one two|three"},
		{"one two three", 9, 20, "one two three"},
		{"abcdefghijklmnopqrstuvwxyz", 10, 8, "abcdefgh|ijklmnopqr|stuvwxyz"},
		{"日本語日本語 日本", 8, 8, "日本語日|本語|日本"},
	} {
		if got := strings.Join(wrap(c.text, c.n, c.first), "|"); got != c.want {
			t.Errorf("wrap(%q, %d, %d) = %q, expected %q", c.text, c.n, c.first, got, c.want)
		}
	}
}

// TestSurplusText: what moves which figure, and what was predicted beside what was
// seen, stand under the table of treatments.
func TestSurplusText(t *testing.T) {
	run := sciencetest.Aliases(3, 6, sciencetest.Limit*0.0006, 1.03)
	conclude.Conclude(run)
	var b bytes.Buffer
	if err := Text(&b, run, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"what moves which figure", "connections 1 → 254 at aliases 254: goodput", "queue short → long at connections 254, aliases 254: goodput",
		"surplus over what was received, predicted and seen, Gbit/s", "Predicted is 103 % of what was seen in the 18 trials", "in 18 of them to within 15 %",
	} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if cells(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("more than 80 columns: %q", line)
		}
	}
}

// TestAccountsFigure: what was received, said, predicted and published are curves over
// the aliases, the last of a row on top of the other; a factor of names has none.
func TestAccountsFigure(t *testing.T) {
	run := sciencetest.Aliases(3, 2, sciencetest.Limit*0.0006, 1.03)
	conclude.Conclude(run)
	v := newView(run)
	list, limit := v.accounts(run.Factors[1])
	if limit != sciencetest.Limit || len(list) != 5 {
		t.Fatalf("%d curves, limit %g", len(list), limit)
	}
	for i, want := range []struct {
		name   string
		points int
		dash   bool
	}{{"received", 3, false}, {"iperf says", 3, false}, {"predicted", 3, true}, {"counted at the last write", 3, false}, {"a-table, tcp", 3, true}} {
		if a := list[i]; a.name != want.name || len(a.points) != want.points || a.dash != want.dash {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
	if last := list[1].points[2]; last.x != 254 || last.bps < sciencetest.Limit*1.1 {
		t.Errorf("%+v", last)
	}
	f, ok := v.accountsFigure()
	if !ok || !strings.HasPrefix(f.Title, "At 254 aliases: iperf says") || len(f.csv) != 16 {
		t.Errorf("%t %q, %d lines", ok, f.Title, len(f.csv))
	}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil || !strings.Contains(b.String(), "limit of the published wire") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if list, _ := v.accounts(run.Factors[2]); list != nil {
		t.Errorf("names have no distance: %+v", list)
	}
}
