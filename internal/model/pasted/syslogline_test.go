package pasted

import (
	"math/rand/v2"
	"strings"
	"testing"

	"linerate/internal/model/pattern"
)

// TestSyslogRow: what is parsed by hand is what an expression of the same form matches, of the samples and
// of lines in which bytes are others.
func TestSyslogRow(t *testing.T) {
	row := pattern.MustCompile(
		`^(?:<(\d{1,3})>)?(?:` + stamp3164 + `|` + stamp5424 + `|` + stampFull + `|` + stampUnix + `)` +
			` (\(none\)|[\w.:-]{1,64}) (?:(\w{3,8})\.(\w{3,7}) )?([\w./@()+-]{1,60})(?:\[(?:\d{1,8}|` +
			`[\w-]{1,20})\])?:(?: (.*))?$`)
	lines := append(sampleLines(t), "1764410400.123456 nas app: x", "Sun 2026-11-29 10:00:00.123456 CET nas app[1]: x",
		"2026-11-29T10:00:00,5+0100 nas a.b kern.info app[x-1]:", "<13>Nov  9 2026 10:00:00.5 (none) kern.info kernel:",
		"Nov  9 10:00:00 "+strings.Repeat("h", 65)+" a: b", "Nov  9 10:00:00 h "+strings.Repeat("p", 61)+": b",
		"Nov  9 10:00:00 h kern.info: b", "Nov  9 10:00:00 h kernel.infos a: b", "Nov  9 10:00:00 h [1]: b")
	random := rand.New(rand.NewPCG(3, 4))
	matched := 0
	check := func(line string) {
		want, m := syslogEntry{}, row.FindStringSubmatch(line)
		if m != nil {
			matched++
			want = syslogEntry{m[1], m[2], m[3], m[4], m[5], m[6]}
		}
		if got, is := syslogRowOf(line); is != (m != nil) || is && got != want {
			t.Errorf("%q: %+v, %v, want %+v", line, got, is, want)
		}
	}
	for _, l := range lines {
		check(l)
		if !row.MatchString(l) {
			continue
		}
		for range 200 {
			other := []byte(l)
			const bytes = " :.[]<>T-+Z0aA(é,"
			other[random.IntN(len(l))] = bytes[random.IntN(len(bytes))]
			if at := random.IntN(len(other)); random.IntN(2) == 0 {
				other = append(other[:at], other[at+1:]...)
			}
			check(string(other))
		}
	}
	if matched < 1000 {
		t.Errorf("only %d lines match", matched)
	}
}
