package top

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

var update = flag.Bool("update", false, "write the golden files")

// began is when the first sample of the tests was taken.
var began = time.Date(2026, 3, 1, 14, 2, 0, 0, time.UTC)

// sample is the n-th of a host under load.
func sample(host string, n int) record.HostSample {
	s := record.HostSample{
		Schema: record.HostSampleSchema, Host: host, Taken: began.Add(time.Duration(n) * time.Second), WindowS: 1.0004,
		UptimeS: 3*86400 + 4*3600,
		Interfaces: []record.InterfaceRates{
			{Interface: "eth0", Up: true, RxBps: 9.415e9, RxPps: 812_345, TxBps: 112.3e6, TxPps: 401_230,
				RxLimitBps: 10e9, TxLimitBps: 10e9, RxShare: 0.957, TxShare: 0.018, DropsPerS: 12},
			{Interface: "eth1", Up: true, RxBps: 35, RxPps: 0.4, TxBps: 48.2e6 * float64(1+n%3), TxPps: 50_000,
				TxLimitBps: 200e6, TxLimiter: "tbf", TxShare: 0.241 * float64(1+n%3)},
			{Interface: "br-1234567890ab", Kind: "bridge", Up: true},
			{Interface: "eth2", RxBps: 0},
		},
		CPUs: []record.CPURates{
			{CPU: -1, User: 0.12, System: 0.2, IRQ: 0.01, SoftIRQ: 0.25, Steal: 0.02, InterruptsPerS: 23_412,
				NetRxPerS: 12_034, NetTxPerS: 87, PacketsPerS: 862_345, SqueezedPerS: 3},
			{CPU: 0, User: 0.02, System: 0.05, SoftIRQ: 0.92, InterruptsPerS: 20_112, NetRxPerS: 11_034,
				PacketsPerS: 812_345, SqueezedPerS: 3, Backlog: 12},
			{CPU: 1, User: 0.22, System: 0.35, IRQ: 0.02, SoftIRQ: 0.01, Steal: 0.04, InterruptsPerS: 3300,
				NetRxPerS: 1000, NetTxPerS: 87, PacketsPerS: 50_000},
		},
		Queues: []record.QueueRates{
			{Interface: "eth1", Queue: "tbf 1:", Bps: 199.9e6, Pps: 16_520, DropsPerS: 3, BacklogBytes: 75_640,
				BacklogPackets: 52},
			{Interface: "eth0", Queue: "rx-0", WindowS: 30.1, Bps: 9.4e9, Pps: 812_000},
		},
		Protocols: record.ProtocolRates{Connections: 1024, OpenedPerS: 12, SegmentsOutPerS: 401_000, RetransmitPerS: 82,
			DatagramsInPerS: 50_000},
		Flows: []record.FlowRates{
			{Local: "192.0.2.1:5201", Remote: "192.0.2.12:43210", State: "ESTAB", Program: "nginx", TxBps: 941.2e6,
				RxBps: 1.2e6, SegmentsPerS: 90_000, RetransmitPerS: 12, RTTUs: 310, MinRTTUs: 90, CwndBytes: 1_250_000,
				SendQueue: 2_100_000, LimitedBy: "congestion window",
				LimitedWhy: "limited to 1.25 MB in flight (congestion window)"},
			{Local: "[2001:db8:1234:5678:9abc:def0:1234:5678]:443", Remote: "[2001:db8::2]:50122", State: "ESTAB",
				Program: "nginx", TxBps: 48.2e6, SegmentsPerS: 4000, RTTUs: 41_240, MinRTTUs: 40_010,
				CwndBytes: 250_000, LimitedBy: "receiver window"},
			{Local: "192.0.2.1:22", Remote: "198.51.100.7:60001", State: "CLOSE-WAIT", Program: "sshd",
				ReceiveQueue: 1},
		},
		Drops: []record.Drop{{Host: host, Where: "eth0", Counter: "rx_missed_errors", Packets: 12, Verdict: "harmful",
			Why: "the receive ring was full"}},
		Findings: []record.Finding{
			{ID: "ring-overrun", Host: host, Confidence: record.Certain,
				Summary:  "eth0 dropped packets because the host did not empty its receive ring in time",
				Evidence: []string{"rx_missed_errors grew by 12 in 1 s"}, Fix: []string{"ethtool -G eth0 rx 4096"}},
			{ID: "tcp-retransmissions", Host: host, Confidence: record.Likely, ExplainedBy: "ring-overrun",
				Summary: "segments were lost and sent again"},
			{ID: "powersave-governor", Host: host, Confidence: record.Possible,
				Summary: "CPUs save power, which makes them slow to answer and slower at work"},
		},
	}
	if n < 3 { // the ring overruns later
		s.Interfaces[0].DropsPerS, s.Drops, s.Findings = 0, nil, s.Findings[2:]
	}
	if n == 1 {
		s.Findings = append(s.Findings, record.Finding{ID: "neighbour-failed", Host: host, Confidence: record.Likely,
			Summary: "192.0.2.9 does not answer ARP requests on eth1"})
	}
	return s
}

// loaded is a model of two hosts, of which the second has given no sample for a while.
func loaded() Model {
	var m Model
	for n := range 6 {
		m = m.Add(sample("nas", n))
	}
	return m.Add(sample("client", 0)).Lose("client", "ssh client linerate top --json: no sample within 31s")
}

var sizes = []struct{ width, height int }{{60, 24}, {80, 24}, {200, 60}}

// TestScreenGolden compares each view at three sizes with testdata.
func TestScreenGolden(t *testing.T) {
	for _, size := range sizes {
		var b strings.Builder
		for v := range views {
			m := loaded()
			m.View = v
			fmt.Fprintf(&b, "== %s\n%s\n", viewNames[v], Screen(m, size.width, size.height))
		}
		m := loaded()
		m.Hosts = m.Hosts[:1]
		m, _ = m.Key("left")
		fmt.Fprintf(&b, "== one host, paused\n%s\n", Screen(m, size.width, size.height))
		m, _ = m.Key("?")
		fmt.Fprintf(&b, "== help\n%s\n== nothing yet\n%s\n", Screen(m, size.width, size.height),
			Screen(Model{}, size.width, size.height))
		file := filepath.Join("testdata", fmt.Sprintf("%dx%d.txt", size.width, size.height))
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s differs (-update writes it):\n%s", file, b.String())
		}
	}
}

var attributes = regexp.MustCompile("\x1b\\[[0-9]+m")

// TestScreenFits: no line is wider and no screen higher than the terminal, whatever is on it,
// and colours change nothing else.
func TestScreenFits(t *testing.T) {
	evil := loaded()
	hostile := "\x1b]0;owned\x07\u202e\n长长长长长长长长长长长长长长长长长长长长长长长长长长长长长长长长长长"
	s := sample(hostile, 9)
	s.Interfaces[0].Interface, s.Interfaces[0].RxBps, s.Interfaces[0].RxShare = hostile, 1e300, 1e300
	s.Flows[0].Local, s.Flows[0].Remote, s.Flows[0].Program, s.Flows[0].LimitedBy, s.Flows[0].State = hostile, hostile,
		hostile, hostile, hostile
	s.Flows[1].Local, s.Flows[1].TxBps = "", -1
	s.Queues[0].Queue, s.CPUs[0].User, s.Drops[0].Why = hostile, -3, hostile
	s.Findings[0].Summary, s.Findings[0].Evidence, s.Findings[0].Fix = hostile, []string{hostile}, []string{hostile}
	s.UptimeS = 1e300
	for range 3 {
		s.Findings = append(s.Findings, s.Findings...)
	}
	evil = evil.Add(s).Lose(hostile, hostile)
	evil.Shown = 2
	for name, m := range map[string]Model{"loaded": loaded(), "hostile": evil} {
		for v := range views {
			for _, width := range []int{60, 72, 80, 99, 120, 131, 170, 200, 300} {
				for _, height := range []int{0, 10, 24, 60} {
					m.View, m.Color = v, false
					plain := Screen(m, width, height)
					lines := strings.Split(plain, "\n")
					if height > 0 && len(lines) != height {
						t.Errorf("%s, view %d at %dx%d: %d lines", name, v, width, height, len(lines))
					}
					for _, line := range lines {
						if words.Width(line) > width || strings.ContainsAny(line, "\x1b\x07\t\u202e") {
							t.Errorf("%s, view %d at %dx%d: %q", name, v, width, height, line)
						}
					}
					m.Color = true
					if colored := Screen(m, width, height); attributes.ReplaceAllString(colored, "") != plain {
						t.Errorf("%s, view %d at %dx%d: with colours\n%s", name, v, width, height, colored)
					}
				}
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 0.34: "0.3", 12: "12", 999.4: "999", 999.6: "1.000k",
		50_000: "50.00k", 99_996: "100.0k", 941.5e6: "941.5M", 9.41523e9: "9.415G", 999.96e9: "1.000T",
		1e300: ">1E", -1: "?"} {
		if got := si(value); got != want || len(got) > 6 {
			t.Errorf("si(%v) = %q, want %q", value, got, want)
		}
	}
	for value, want := range map[float64]string{0: "", 10e9: "10G", 2.5e9: "2.5G", 100e6: "100M", 200e6: "200M"} {
		if got := limit(value); got != want {
			t.Errorf("limit(%v) = %q, want %q", value, got, want)
		}
	}
	for value, want := range map[uint32]string{0: "", 85: "85 µs", 5700: "5.70 ms", 41_240: "41.2 ms",
		999_499: "999 ms", 999_600: "1.00 s", 2_310_000: "2.31 s"} {
		if got := micro(value); got != want {
			t.Errorf("micro(%v) = %q, want %q", value, got, want)
		}
	}
	for share, want := range map[float64]string{-1: "0", 0.0004: "0.0", 0.957: "95.7", 0.9999: "100", 1e9: "999"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestBars(t *testing.T) {
	for share, want := range map[float64]string{-1: "    ", 0: "    ", 0.001: "▏   ", 0.5: "██  ", 0.53125: "██▏ ",
		1: "████", 9: "████"} {
		if got := bar(share, 4); got != want {
			t.Errorf("bar(%v) = %q, want %q", share, got, want)
		}
	}
	if got := stacked(8, []float64{0.25, 0.25, 0.25, 0}, glyphs); got != "██▓▓▒▒  " {
		t.Errorf("stacked: %q", got)
	}
	if got := spark([]float64{9, 0, 0.1, 4, 8}, 4, 8); got != " ▁▄█" {
		t.Errorf("spark: %q", got)
	}
}

// TestFindingsBefore: what was counted before the samples is no finding since one of them: it is
// a number on the overview, and in full in the list of findings.
func TestFindingsBefore(t *testing.T) {
	s := sample("nas", 0)
	s.Findings = []record.Finding{{ID: "tcp-timeouts", Host: "nas", Confidence: record.Possible, Boot: true,
		Summary: "TCP waits", Evidence: []string{"54 since boot"}, Fix: []string{"find out"}},
		{ID: "tail-loss", Host: "nas", Confidence: record.Possible, Boot: true, Summary: "the last segments",
			Evidence: []string{"9 since boot"}},
		{ID: "path-rehash", Host: "nas", Confidence: record.Possible, Boot: true, ExplainedBy: "tcp-timeouts",
			Summary: "TCP changed the hash"},
		{ID: "sack-off", Host: "nas", Confidence: record.Likely, Summary: "acknowledgements are off",
			Evidence: []string{"tcp_sack = 0"}}}
	m := Model{Zone: time.UTC}.Add(s)
	for height, how := range map[int]string{0: "linerate doctor", 60: "key 6"} {
		got := Screen(m, 100, height)
		if strings.Contains(got, "tcp-timeouts") || strings.Contains(got, "path-rehash") ||
			!strings.Contains(got, "tcp_sack = 0") ||
			!strings.Contains(got, "2 possible causes by what was counted before: "+how) {
			t.Errorf("%d lines:\n%s", height, got)
		}
	}
	m.View = Findings
	if got := Screen(m, 100, 60); !strings.Contains(got, "tcp-timeouts (possible, before the samples)") ||
		!strings.Contains(got, "54 since boot") || strings.Contains(got, "counted before") {
		t.Errorf("all:\n%s", got)
	}
}
