package text

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/present"
	"linerate/internal/show/showtest"
	"linerate/internal/show/words"
)

var update = flag.Bool("update", false, "write the golden files anew")

func written(t *testing.T, run *record.Run, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Run(&b, present.Report(run), opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	all := showtest.Variants()
	for name, opts := range map[string]Options{
		"arp-flux":       {Page: "runs/arp-flux-7/report.html"},
		"arp-flux.wide":  {Width: 120, Page: "runs/arp-flux-7/report.html"},
		"in-doubt":       {},
		"two-factors":    {},
		"scattered":      {}, // an interval cut off at 0 or at the limit
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
		got := written(t, all[run], opts)
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

// toCopy reports whether a line may be wider than the terminal.
func toCopy(line string) bool {
	said := strings.Fields(line)
	return len(said) > 0 && (isCommand(said[0]) || paths.MatchString(said[len(said)-1]))
}

func TestTextFits(t *testing.T) {
	for name, run := range showtest.Variants() {
		for _, width := range []int{60, 80, 100, 160, 200} {
			for _, line := range strings.Split(written(t, run, Options{Width: width}), "\n") {
				if words.Width(line) > width && !toCopy(line) {
					t.Errorf("%s at %d columns: a line of %d: %s", name, width, words.Width(line), line)
				}
				if cut := regexp.MustCompile(`\S…|…\S`).FindString(line); cut != "" {
					t.Errorf("%s at %d columns: a word is cut, %q, in %s", name, width, cut, line)
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
	for name, run := range showtest.Variants() {
		plainText := written(t, run, Options{})
		colored := written(t, run, Options{Color: true})
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
	all := showtest.Variants()
	for name, want := range map[string]string{
		"in-doubt":    "In doubt: 11 of 56 trials failed a trust check (limit)",
		"interrupted": "Interrupted: the figures are of 56 finished trials",
		"budget":      "The budget had time for 4 of 6 blocks.",
		"wide":        "The budget ran out before every interval was as narrow as requested: 12 of 12",
		"blocks":      "The run ended after 4 blocks, the most that it may have: 12 of 12",
	} {
		got := written(t, all[name], Options{})
		at, table := strings.Index(strings.Join(strings.Fields(got), " "), want),
			strings.Index(strings.Join(strings.Fields(got), " "), "treatment MB/s")
		if at < 0 || at > table {
			t.Errorf("%s: %q is not above the table:\n%s", name, want, got)
		}
	}
	if got := written(t, all["arp-flux"], Options{}); strings.Contains(got, "!") {
		t.Errorf("a sound run carries a warning:\n%s", got)
	}
}

func TestFindingsOfALevelAreExplainedOnce(t *testing.T) {
	run := showtest.ArpFlux()
	level := run.Treatments[len(run.Treatments)-1].Name
	f := record.Finding{ID: "x", Host: "server", Confidence: record.Certain, Summary: "s", Evidence: []string{"a clue"},
		Fix: []string{"ip mend"}, Treatments: []string{level}}
	run.Findings = []record.Finding{f, f}
	if got := written(t, run, Options{}); strings.Count(got, "a clue") != 1 || strings.Count(got, "fix: ip mend") != 1 {
		t.Errorf("expected evidence and fix once:\n%s", got)
	}
	run.Findings[0].Confidence, run.Findings[1].Confidence = record.Possible, record.Possible
	if got := written(t, run, Options{}); strings.Contains(got, "ip mend") {
		t.Errorf("a mere possibility of a level has a fix:\n%s", got)
	}
}

func TestWhyARunFailed(t *testing.T) {
	run := showtest.ArpFlux()
	run.Status, run.Error = "interrupted", "the agent of server ended"
	if got := written(t, run, Options{}); !strings.Contains(got, "! linerate failed: the agent of server ended") {
		t.Errorf("the reason is missing:\n%s", got)
	}
}

// TestQuotesStayWhole: a command with quotes is broken outside of them.
func TestQuotesStayWhole(t *testing.T) {
	term := &terminal{width: 80}
	term.command("  Again     ", "              ",
		`linerate run alias-cost --only '254 aliases' --replicates 4 --seed 381711`)
	want := "  Again     linerate run alias-cost --only '254 aliases' --replicates 4 --seed \\\n              381711\n"
	if got := term.out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for text, want := range map[string]string{
		"a  b":                      "a||b",
		`x 'it'\''s it' "a \" b" c`: `x|'it'\''s it'|"a \" b"|c`,
		`'not closed x`:             `'not closed x`,
	} {
		if got := strings.Join(shellWords(text), "|"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestCommandsStayCommands(t *testing.T) {
	term := &terminal{width: 50}
	command := "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 net.ipv4.conf.all.rp_filter=2"
	term.command("  fix: ", "       ", command)
	got := term.out.String()
	if joined := strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimPrefix(got, "  fix: "), "\\\n", " ")),
		" "); joined != command {
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

// TestSurplusText: comparisons that the table of treatments has not, and what was predicted beside what was
// seen, stand under the table of treatments.
func TestSurplusText(t *testing.T) {
	run := sciencetest.Aliases(3, 6, sciencetest.Limit*0.0006, 1.03)
	conclude.Conclude(run)
	var b bytes.Buffer
	if err := Run(&b, present.Report(run), Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"comparisons of other treatments", "connections 1 → 254 at aliases 254: goodput",
		"queue short → long at connections 254, aliases 254: goodput",
		"Other counts, beside what was received, Gbit/s", "The prediction is 103 % of the surplus in the 18 trials",
		"within 15 % of it in 18 of them",
	} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if words.Width(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("more than 80 columns: %q", line)
		}
	}
}

// TestPartAlone: a part of a list is a treatment like others where the list was not
// tried.
func TestPartAlone(t *testing.T) {
	for name, levels := range map[string][]string{"a part": {"as it is", "only net.ipv4.tcp_wmem"},
		"the list": {"as it is", "the list", "only net.ipv4.tcp_wmem"}} {
		run := showtest.Ablated()
		f := &run.Factors[1]
		f.Levels = slices.DeleteFunc(f.Levels, func(l record.Level) bool { return !slices.Contains(levels, l.Name) })
		run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool {
			return !slices.Contains(levels, t.Levels["settings"])
		})
		conclude.Conclude(run)
		var b bytes.Buffer
		if err := Run(&b, present.Report(run), Options{Width: 100}); err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(b.String(), "\n  treatment ")
		table, _, _ = strings.Cut(table, "\n\n")
		if strings.Contains(table, "tcp_wmem") != (name == "a part") {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// A treatment whose host carried no data has dashes for shares, and a ratio that
// does not exist is a dash, too.
func TestNoDataHasNoShares(t *testing.T) {
	run := sciencetest.Run(7, 4)
	for i := range run.Trials {
		trial := &run.Trials[i]
		if trial.Levels["fix"] != "kernel defaults" {
			continue
		}
		trial.GoodputBps = 0
		for f := range trial.Flows {
			trial.Flows[f].Connected, trial.Flows[f].ReceivedBytes = false, 0
		}
	}
	conclude.Conclude(run)
	var out bytes.Buffer
	if err := Run(&out, present.Report(run), Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "Share of the traffic of server on each of its interfaces, %")
	for _, line := range strings.Split(table, "\n") {
		if strings.HasPrefix(line, "  kernel defaults") {
			if strings.Count(line, "–") != 8 {
				t.Errorf("shares of no data: %q", line)
			}
			break
		}
	}
	if strings.Contains(out.String(), "0×") ||
		!strings.Contains(out.String(), "the baseline is zero in every block: there is no ratio, only a difference") {
		t.Errorf("a ratio to nothing:\n%s", out.String())
	}
}

// TestSettingsBeside: what a setting does to latency stands under what it does to
// goodput, where it does something; under the list it always does.
func TestSettingsBeside(t *testing.T) {
	effect := func(verdict string, ratio float64, latency string, later float64) *record.Effect {
		e := &record.Effect{Verdict: verdict, Ratio: record.EffectSize{Mean: ratio, Low: ratio - 0.01,
			High: ratio + 0.01}}
		b := *e
		b.Response, b.Verdict, b.Ratio = "latency_p99", latency, record.EffectSize{Mean: later, Low: later - 0.01,
			High: later + 0.01}
		e.Beside = []record.Effect{b}
		return e
	}
	c := &record.Tune{
		Run: "tune-1", Responses: []string{"goodput", "latency_p99"},
		Settings: []record.TuneSetting{
			{Key: "net.a", Verdict: record.Trades, Alone: effect(record.Improves, 1.02, record.Worsens, 4),
				Removed: effect(record.Worsens, 0.98, record.Improves, 0.25)},
			{Key: "net.b", Verdict: record.NoDifference, Alone: effect(record.NoDifference, 1, record.NoDifference,
				1.01), Removed: effect(record.NoDifference, 1, record.Inconclusive, 0.9)},
		},
		List: effect(record.Improves, 1.02, record.Inconclusive, 3.9), Off: effect(record.NoDifference, 1,
			record.NoDifference, 1),
	}
	var out strings.Builder
	if err := Write(&out, present.Tune(c, "", nil, nil), Options{}); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	want := "alone list without it trades net.a 1.02× (1.01–1.03) 0.98× (0.97–0.99) latency p99 4.00× (3.99–4.01) " +
		"0.25× (0.24–0.26) " +
		"no difference net.b 1.00× (0.99–1.01) 1.00× (0.99–1.01) " +
		"the list as a whole 1.02× (1.01–1.03) improves latency p99 3.90× (3.89–3.91) inconclusive off again 1.00× " +
		"(0.99–1.01) no difference"
	if got != want {
		t.Errorf("got\n%s\nwant, spaces aside,\n%s", out.String(), want)
	}
}

// TestHeldAlone: without predictions there is a line for each cause; where nothing
// is known there is none.
func TestHeldAlone(t *testing.T) {
	bare := func(f *record.Flow) { f.Expected = nil }
	text := written(t, showtest.Predicted(bare), Options{})
	if !strings.Contains(text, "Held by   receiver window\n") || strings.Contains(text, "Predicted") {
		t.Errorf("the text is\n%s", text)
	}
	mixed := showtest.Predicted(bare)
	for i := range mixed.Trials[0].Flows {
		mixed.Trials[0].Flows[i].LimitedBy = ""
	}
	if text := written(t, mixed, Options{}); !strings.Contains(text, "not attributed") {
		t.Errorf("the text is\n%s", text)
	}
	none := written(t, showtest.Predicted(func(f *record.Flow) { f.Expected, f.LimitedBy = nil, "" }), Options{})
	if strings.Contains(none, "Held by") {
		t.Errorf("the text is\n%s", none)
	}
}
