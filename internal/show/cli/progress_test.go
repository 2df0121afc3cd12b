package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/control/measure"
	"linerate/internal/control/run"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// TestProgress: a line says how far a run is and what its last trial came to; where it
// cannot be drawn anew, without escape sequences.
func TestProgress(t *testing.T) {
	state := run.Progress{Run: "nas-7", Phase: "arp_ignore=1, writes", Done: 57, Total: 84, Remaining: 68 * time.Second,
		Response: "goodput",
		Last:     &record.Trial{Treatment: "arp_ignore=1, reads", GoodputBps: 956.8e6}}
	var b strings.Builder
	newProgress(&b).show(state)
	if want := "run nas-7\n57 of 84 trials, about 1 m 08 s left · arp_ignore=1, reads: 956.8 Mbit/s\n"; b.String() !=
		want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	state.Fits, state.Blocks, state.Done = 4, 6, 47
	newProgress(&b).show(state)
	if !strings.Contains(b.String(), "47 of 56 trials, at most 1 m 08 s left (budget: 4 of 6 blocks) · ") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	state.Fits, state.Done = 0, 57
	state.Unit = "MB/s" // of the study, as its tables have it
	newProgress(&b).show(state)
	if !strings.HasSuffix(b.String(), "reads: 119.6 MB/s\n") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	p := newProgress(&b)
	p.terminal = true
	p.show(state)
	// What is long leaves out the bar, and then words; the figure stays.
	for name, want := range map[string]string{
		"list":                   "\r\x1b[K██████░░░░ 57 of 84 trials, about 1 m 08 s left · list: 119.6 MB/s",
		"only net.ipv4.tcp_rmem": "\r\x1b[K57 of 84 trials, about 1 m 08 s left · only net.ipv4.tcp_rmem: 119.6 MB/s",
		"list without net.ipv4.tcp_congestion_control": "\r\x1b[K57/84, 1 m 08 s left · list without " +
			"net.ipv4.tcp_congestion_control: 119.6 MB/s",
	} {
		b.Reset()
		state.Last.Treatment = name
		p.show(state)
		if line := b.String(); line != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
	state.Fits, state.Blocks, state.Done, state.Last.Treatment = 4, 8, 33,
		"list without net.ipv4.tcp_congestion_control"
	for width, want := range map[int]string{
		90: "33/42, at most 1 m 08 s left · list without net.ipv4.tcp_congestion_control: 119.6 MB/s",
		80: "list without net.ipv4.tcp_congestion_control: 119.6 MB/s · 33/42, at most 1 m…",
	} {
		b.Reset()
		p.width = width
		p.show(state)
		if line := strings.TrimPrefix(b.String(), "\r\x1b[K"); line != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
	state.Fits, state.Done = 0, 57
	b.Reset()
	state.Last = nil
	newProgress(&b).show(state)
	if !strings.Contains(b.String(), "· arp_ignore=1, writes\n") {
		t.Errorf("%q", b.String())
	}
}

// TestMeasureProgress: where a line cannot be drawn anew, one comes every ten seconds at most, and nothing
// is said twice.
func TestMeasureProgress(t *testing.T) {
	var b strings.Builder
	p := newProgress(&b)
	now := time.Unix(0, 0)
	p.now = func() time.Time { return now }
	for range 65 {
		left := 60*time.Second - now.Sub(time.Unix(0, 0)).Truncate(20*time.Second)
		p.replace(measureLine(measure.Progress{Phase: "measuring", Left: left, Write: 1e6, Read: -1, LostShare: -1,
			RatePerS: -1}))
		now = now.Add(time.Second)
	}
	want := ""
	for _, left := range []string{"60", "40", "20", "0"} {
		want += "measuring · " + left + " s left · write 1 Mbit/s\n"
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	p = newProgress(&b)
	p.now = func() time.Time { return now }
	for done := range 25 {
		p.show(run.Progress{Run: "nas-7", Phase: "trial", Done: done, Total: 25})
		now = now.Add(time.Second)
	}
	if got := strings.Count(b.String(), "\n"); got != 1+3 {
		t.Errorf("%d lines in 25 s:\n%s", got, b.String())
	}
}

// TestQuiet: every verb accepts --quiet, which leaves nothing of what is no error on stderr.
func TestQuiet(t *testing.T) {
	var verbs func(cmd *cobra.Command) []*cobra.Command
	verbs = func(cmd *cobra.Command) (list []*cobra.Command) {
		for _, c := range cmd.Commands() {
			list = append(append(list, c), verbs(c)...)
		}
		return list
	}
	seen := 0
	for _, cmd := range verbs(newRoot(streams{err: io.Discard})) {
		if !cmd.Runnable() {
			continue
		}
		seen++
		if err := cmd.ParseFlags([]string{"--quiet"}); err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
	}
	if seen < 30 {
		t.Errorf("only %d verbs", seen)
	}
	t.Chdir(t.TempDir())
	t.Setenv("LINERATE_NOTEBOOK", filepath.Join(t.TempDir(), "notebook.db"))
	for _, test := range []struct {
		args []string
		said bool
	}{
		{[]string{"runs"}, true}, {[]string{"runs", "--quiet"}, false}, {[]string{"new", "wan"}, true},
		{[]string{"new", "nas", "--quiet"}, false}, {[]string{"report", "none", "--quiet"}, true},
	} {
		var out, errs bytes.Buffer
		Main(test.args, strings.NewReader(""), &out, &errs)
		if said := errs.Len() > 0; said != test.said {
			t.Errorf("%v: stderr %q", test.args, errs.String())
		}
	}
}

// TestRoundTime: from 90 minutes on in hours.
func TestRoundTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		4600 * time.Millisecond: "5 s", 68 * time.Second: "1 m 08 s", 90*time.Minute - time.Second: "89 m 59 s",
		10886 * time.Second: "3 h 1 m", 100 * time.Hour: "100 h 0 m",
	} {
		if got := unit.FormatTime(d); got != want {
			t.Errorf("%d s: %q, want %q", int(d.Seconds()), got, want)
		}
	}
}
