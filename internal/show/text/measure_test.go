package text

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/show/export"
	"linerate/internal/show/present"
	"linerate/internal/show/showtest"
	"linerate/internal/show/words"
)

func measureText(t *testing.T, m *export.Measurement, width int) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, present.Measure(m), Options{Width: width}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if words.Width(strings.TrimSuffix(line, "\n")) > width {
			t.Errorf("wider than %d: %s", width, line)
		}
	}
	return b.String()
}

func TestMeasureTextDatagrams(t *testing.T) {
	want := `measure 10.0.0.1:5202 · UDP, 1 flow · 10 s, after 1 s of warm-up

  write   941.2 Mbit/s        99.97 % of the limit of the ends' interfaces,
                              941.5 Mbit/s (1 Gbit/s × 1448/1538); 940 Mbit/s to
                              942 Mbit/s by interval
          lost 0.048 %        480 datagrams; 1,000,000 sent, 999,500 received, 3
                              reordered, 1 duplicates, 20 more in flight or lost
                              at the end of the window than at its beginning
          jitter 12.3 µs      RFC 3550: smoothed difference between the spacing
                              of datagrams as sent and as received
          delay p50 20.0 µs   above the fastest datagram; p90 40.5 µs, p99
                              812 µs, p99.9 1.50 ms, max 2.50 s

  flow   goodput    sent        lost      jitter
  w1     1 Mbit/s   1,000,000   0.048 %   12.3 µs

  CPU       per gigabyte: client 0.31 s (all of its 8 CPUs 5.0 % busy), server
            0.22 s (all of its 1 CPU 30 % busy); together 0.53 s
  Trust     2 of 2 checks passed: wire, limit
`
	if got := measureText(t, showtest.Datagrams(showtest.Measurement(1)), 80); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMeasureTextTimedBursts: a percentile of fewer datagrams than were received says of which,
// and why, at every width.
func TestMeasureTextTimedBursts(t *testing.T) {
	for _, c := range []struct {
		timed int64
		want  string
	}{
		{1689,
			"above the fastest datagram; of each burst that was sent at once the first is timed, since the others wait behind it: " +
				"p90 40.5 µs, p99 812 µs, max 2.50 s"},
		{20_000, "above the fastest datagram; p90 40.5 µs, p99 812 µs, p99.9 1.50 ms, max 2.50 s"},
	} {
		for _, width := range []int{60, 80, 200} {
			m := showtest.Datagrams(showtest.Measurement(1))
			m.Datagrams.Delay.Count = c.timed
			m.Directions[0].Counts = m.Counts
			if text := strings.Join(strings.Fields(measureText(t, m, width)), " "); !strings.Contains(text, c.want) {
				t.Errorf("%d columns: %s", width, text)
			}
		}
	}
	m := showtest.Datagrams(showtest.Measurement(1))
	m.Datagrams.Delay.Count, m.Datagrams.Received = 500, 500
	m.Directions[0].Counts = m.Counts
	if text := strings.Join(strings.Fields(measureText(t, m, 80)), " "); !strings.Contains(text,
		"above the fastest datagram; p90 40.5 µs, 6th slowest 812 µs, max 2.50 s (of 500 datagrams: p99 needs 1,000)") {
		t.Error(text)
	}
}

// TestMeasureTextBursts: a jitter that the sender's bursts make is said to be theirs.
func TestMeasureTextBursts(t *testing.T) {
	const want = "a burst of 63 KiB takes 548 µs at 941.5 Mbit/s"
	for jitter, said := range map[float64]bool{12.3: false, 400: true} {
		m := showtest.Datagrams(showtest.Measurement(1))
		for i := range m.Flows {
			m.Flows[i].From, m.Flows[i].CallBytes = record.NodeClient, 63<<10
		}
		m.Directions[0].Datagrams.JitterUs = jitter
		if got := strings.Join(strings.Fields(measureText(t, m, 80)), " "); strings.Contains(got, want) != said {
			t.Errorf("jitter %v: want %q: %t, got\n%s", jitter, want, said, got)
		}
	}
}

// TestMeasureTextNeverSent: datagrams that were asked for and never sent are shown before those
// that were lost, with what held the sender back; and those received that were sent before the
// window are shown.
func TestMeasureTextNeverSent(t *testing.T) {
	const lost = " lost 0.048 % 480 datagrams; 1,000,000 sent, "
	for skipped, want := range map[int64]string{
		0:       "by interval" + lost,
		250_000: "by interval sent 1 Gbit/s 80 % of the 1.25 Gbit/s asked for: 250,000 datagrams were given up 10 ms after they were due, held up: full link (tbf)" + lost,
	} {
		m := showtest.Datagrams(showtest.Measurement(1))
		m.Flows[0].From, m.Flows[0].RateCapBps, m.Flows[0].LimitedBy, m.Flows[0].LimitedWhy = record.NodeClient, 1.25e9,
			"full link", "tbf"
		m.Flows[0].Datagrams.Skipped, m.Directions[0].Datagrams.Skipped = skipped, skipped
		if got := strings.Join(strings.Fields(measureText(t, m, 80)), " "); !strings.Contains(got, want) {
			t.Errorf("%d: no %q in\n%s", skipped, want, got)
		}
	}
	// the direction's figures are of both flows, and the reason is one's
	two := showtest.Datagrams(showtest.Measurement(2))
	for i := range two.Flows {
		two.Flows[i].From, two.Flows[i].RateCapBps, two.Flows[i].LimitedBy, two.Flows[i].LimitedWhy = record.NodeClient,
			1.25e9, "full link", "tbf"
		two.Flows[i].Datagrams.Skipped = 10
	}
	two.Directions[0].Datagrams.Skipped = 20
	if got := strings.Join(strings.Fields(measureText(t, two, 80)), " "); !strings.Contains(got,
		"20 datagrams were given up 10 ms after they were due, held up: w1 by full link (tbf)") {
		t.Errorf("of two flows:\n%s", got)
	}
	m := showtest.Datagrams(showtest.Measurement(1)) // loss behind the host holds no sender up
	m.Flows[0].From, m.Flows[0].RateCapBps, m.Flows[0].LimitedBy = record.NodeClient, 1.25e9, "loss"
	m.Flows[0].Datagrams.Skipped, m.Directions[0].Datagrams.Skipped = 97, 97
	if got := measureText(t, m, 80); strings.Contains(got, "held up") {
		t.Errorf("by loss:\n%s", got)
	}
	m = showtest.Datagrams(showtest.Measurement(1))
	// more than was due in the window
	m.Flows[0].From, m.Flows[0].RateCapBps, m.Flows[0].Datagrams.Bytes = record.NodeClient, 1.6e9, 1250
	m.Flows[0].Datagrams.Skipped, m.Directions[0].Datagrams.Skipped = 250_000, 250_000
	if got := strings.Join(strings.Fields(measureText(t, m, 80)), " "); !strings.Contains(got,
		" sent 1 Gbit/s 62.5 % of the 1.6 Gbit/s asked for: ") {
		t.Errorf("sent is not what was sent:\n%s", got)
	}
	m = showtest.Datagrams(showtest.Measurement(1))
	m.Directions[0].Datagrams.Skipped = 1
	if got := strings.Join(strings.Fields(measureText(t, m, 80)), " "); !strings.Contains(got,
		" sent <100 % 1 datagram was given up 10 ms after it was due") {
		t.Errorf("a single one:\n%s", got)
	}
	m = showtest.WithPeer(record.CountedByPeer)
	m.Directions[0].Datagrams.Skipped = 822_000
	if got := strings.Join(strings.Fields(measureText(t, m, 80)), " "); !strings.Contains(got,
		" sent 50 % 822,000 datagrams were given up") {
		t.Errorf("with iperf3:\n%s", got)
	}
	m = showtest.Datagrams(showtest.Measurement(1))
	m.Directions[0].Datagrams.Received += 67
	if got := strings.Join(strings.Fields(measureText(t, m, 80)), " "); !strings.Contains(got,
		"1 duplicates, 47 fewer in flight at the end of the window than at its beginning") {
		t.Errorf("%s", got)
	}
}

// TestMeasureTextBusy: the CPUs' time is split into linerate's and the rest.
func TestMeasureTextBusy(t *testing.T) {
	m := showtest.Measurement(1)
	for i := range m.Ends {
		m.Ends[i].CPUs, m.Ends[i].CPUBusy, m.Ends[i].BusyCPUS, m.Ends[i].CPUSeconds = 2, 0.5, 10, 1
	}
	for oneMachine, want := range map[bool]string{
		false: "client 0.31 s (all of its 2 CPUs 50 % busy: linerate 5.0 %, other programs and interrupts 45 %), server",
		true:  "on one machine (all of its 2 CPUs 50 % busy: linerate 10 %, other programs and interrupts 40 %)",
	} {
		m.OneMachine = oneMachine
		if got := strings.Join(strings.Fields(measureText(t, m, 80)), " "); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestMeasureTextTransactions(t *testing.T) {
	want := `measure 10.0.0.1:5202 · RR, 1 flow · 10 s, after 1 s of warm-up · cubic

  rate          21,346/s      requests with responses, on open connections;
                              213,456 done, 21,000/s to 22,000/s by interval; 2
                              failed
  latency       p50 45.0 µs   p90 51.2 µs, p99 98.7 µs, p99.9 310 µs, p99.99
                              1.25 ms, max 4.00 ms
  connections   8 open        at the window's end; linerate's own memory for
                              each: client 512 bytes, server 1.234 kB

  flow   rate       p50       p99       max       connections
  w1     21,346/s   45.0 µs   98.7 µs   4.00 ms   8

  CPU       per transaction: client 20 µs (all of its 8 CPUs 5.0 % busy), server
            11 µs (all of its 1 CPU 30 % busy); together 31 µs
  Trust     2 of 2 checks passed: wire, limit
`
	if got := measureText(t, showtest.Transacting(showtest.Measurement(1)), 80); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMeasureTextUDPRR: what was lost of requests and responses over UDP is shown.
func TestMeasureTextUDPRR(t *testing.T) {
	m := showtest.Transacting(showtest.Measurement(1))
	m.Protocol = "udp-rr"
	said := func(unanswered, late int64, share float64) string {
		x := *m.Transactions
		x.Unanswered, x.Late, x.Failed = unanswered, late, 0
		m.Directions[0].Transactions, m.Directions[0].Lost, m.Directions[0].LostShare = &x, &x.Unanswered, share
		text, _, _ := strings.Cut(measureText(t, m, 80), "\n  connections")
		return text[strings.Index(text, "  rate"):]
	}
	head := `  rate          21,346/s      requests and responses of one datagram each;
                              213,456 done, 21,000/s to 22,000/s by interval
  latency       p50 45.0 µs   p90 51.2 µs, p99 98.7 µs, p99.9 310 µs, p99.99
                              1.25 ms, max 4.00 ms
`
	for _, test := range []struct{ got, want string }{
		{said(0, 0, 0), head + "                lost 0 %      every request had its response within a second"},
		{said(2136, 1, 0.01), head +
			"                lost 1 %      2,136 without a response within a second; late or\n" +
			"                              duplicate responses: 1"},
	} {
		if test.got != test.want {
			t.Errorf("got\n%s\nwant\n%s", test.got, test.want)
		}
	}
}

// TestMeasureTextModes: how bytes were moved is shown once for flows that did
// alike, and a measurement in several modes is shown mode by mode.
func TestMeasureTextModes(t *testing.T) {
	auto, plain := showtest.Measurement(3), showtest.Measurement(1)
	for i := range auto.Flows {
		auto.Flows[i].SendMode, auto.Flows[i].ReceiveMode, auto.Flows[i].CallBytes = "splice", "truncate", 1<<20
	}
	auto.Flows[2].SendMode, auto.Flows[2].ModeNote = "write", "splice: no room for a pipe"
	auto.Mode, plain.Mode = "auto", "copy"
	text := strings.Join(strings.Fields(measureText(t, auto, 100)), " ")
	for _, part := range []string{
		"Moved 2 flows sent by splice (1024 KiB at most in a call), received and discarded in the kernel (MSG_TRUNC); 1 flow sent by write",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	alone := showtest.Measurement(1)
	alone.Flows[0].SendMode, alone.Flows[0].ModeNote = "write", "splice: no room for a pipe"
	if text = measureText(t, alone, 100); !strings.Contains(text,
		"Moved     sent by write, received by ?; splice: no room for a pipe\n") {
		t.Errorf("one flow:\n%s", text)
	}
	all := *auto
	all.Modes = []*export.Measurement{auto, plain}
	all.Expect = &record.Expectation{Gate: ">= 1gbit"}
	text = measureText(t, &all, 80)
	first, second := strings.Index(text, "  mode auto\n"), strings.Index(text, "  mode copy\n")
	if first < 0 || second < first || strings.Count(text, "checks passed") != 2 || strings.Count(text, "not met") != 1 {
		t.Errorf("two modes:\n%s", text)
	}
}

// TestMeasureTextLatency: idle and loaded side by side, what that is by RFC 6349,
// and in a word.
func TestMeasureTextLatency(t *testing.T) {
	m := showtest.Measurement(1)
	m.Latency = &export.Latency{Latency: showtest.Latency()}
	want := `  latency idle   p50 512 µs    p90 600 µs, 4th slowest 700 µs, max 900 µs (of
                               333 requests: p99 needs 1,000); 333 responses
  under load     p50 61.0 ms   p90 70.0 ms, p99 80.0 ms, max 95.0 ms; 1,000
                               responses
  buffer delay   +60.0 ms      on average above the fastest idle response,
                               500 µs (RFC 6349); p50 rose by 60.5 ms; TCP's RTT
                               rose from 400 µs to 50.0 ms
  bufferbloat    grade C       calls suffer, pages open late
`
	if text := measureText(t, m, 80); !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant within it\n%s", text, want)
	}
	m.Latency.BaselineUs = 46.2
	if text := measureText(t, m, 300); !strings.Contains(text,
		"46.2 µs (RFC 6349); idle p50 is 11 times that, the path or the hosts were not quiet without the load; p50 rose by 60.5 ms") {
		t.Errorf("an idle path that is not quiet:\n%s", text)
	}
	busy := m.Ends[1]
	busy.CPUs, busy.CPUBusy, busy.BusyCPUS, busy.CPUSeconds = 2, 0.9, 18, 6 // of 20 s
	m.Ends[1] = busy
	if text := measureText(t, m, 300); !strings.Contains(text,
		"times that, the path or the hosts were not quiet without the load (in the window other programs used 60 % of the CPUs of the server);") {
		t.Errorf("busy hosts:\n%s", text)
	}
	m.Latency.Loaded.Count = 1
	if text := measureText(t, m, 100); !strings.Contains(text,
		"under load     slowest 61.0 ms   max 95.0 ms (of 1 request: p50 needs 20, p90") {
		t.Errorf("one answer:\n%s", text)
	}
	m.Latency.Loaded = nil
	if text := measureText(t, m, 80); !strings.Contains(text, "under load     ?") ||
		!strings.Contains(text, "no response\n") {
		t.Errorf("without an answer:\n%s", text)
	}
}

// TestMeasureTextAddresses: several addresses have their totals, many have those
// of some.
func TestMeasureTextAddresses(t *testing.T) {
	m := showtest.Measurement(2)
	m.Directions = append(m.Directions, export.Direction{Direction: "read"})
	for i := range 2 {
		m.Addresses = append(m.Addresses, export.EndAddress{
			Host: "server", Address: fmt.Sprintf("10.0.%d.1", i), Interface: fmt.Sprintf("eth%d", i), Flows: 3,
			WriteBps: 1e9, ReadBps: 5e8,
		})
	}
	m.Ends[1].Interfaces = []export.EndInterface{{Interface: "eth0", RxBps: 2e9, TxBps: 1e9},
		{Interface: "eth1", RxBps: 1}}
	text := measureText(t, m, 80)
	for _, part := range []string{
		"measure 10.0.0.1:5202 and 1 more · TCP",
		"  end      address    of interface   flows   write      read\n",
		"  server   10.0.1.1   eth1           3       1 Gbit/s   500 Mbit/s\n\n",
		"  server   eth1        1 bit/s      0 bit/s\n", // whatever the addresses' flows got
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	m = showtest.Transacting(showtest.Measurement(1))
	for range 20 {
		m.Addresses = append(m.Addresses, export.EndAddress{Host: "client", Address: "fd00::1", Flows: 1,
			RatePerS: 1234})
	}
	if text = measureText(t, m, 80); strings.Count(text, "  1,234/s\n") != 16 ||
		!strings.Contains(text, "and 4 more addresses: --json") {
		t.Errorf("twenty addresses:\n%s", text)
	}
	for i := range 20 {
		m.Addresses = append(m.Addresses, export.EndAddress{Host: "server", Address: fmt.Sprintf("fd00::2:%d", i),
			Flows: 1, RatePerS: float64(100 - i)})
	}
	text = measureText(t, m, 80)
	for _, part := range []string{
		"  The 8 slowest of the client's 20 addresses; the fastest, fd00::1, had 1,234/s\n",
		"  The 8 slowest of the server's 20 addresses; the fastest, fd00::2:0, had 100/s\n",
		"  server   fd00::2:19   ", "  server   fd00::2:12   ", "and 24 more addresses",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "fd00::2:11 ") {
		t.Errorf("more than the slowest in\n%s", text)
	}
}

// TestMeasureTextPlaces: from where to where each flow goes is shown where that differs between
// the flows, on terminals wide enough, whatever the figures are.
func TestMeasureTextPlaces(t *testing.T) {
	for _, m := range []*export.Measurement{showtest.Measurement(20), showtest.Datagrams(showtest.Measurement(20)),
		showtest.Transacting(showtest.Measurement(20))} {
		for _, several := range []bool{false, true} {
			if several {
				m.Flows[3].Source = "10.0.0.3:33000"
			} else { // a flow of the other direction
				m.Flows[1].Source, m.Flows[1].Destination = m.Flows[1].Destination, m.Flows[1].Source
			}
			for _, width := range []int{60, 80, 99, 100, 120} {
				for _, bps := range []float64{2e8, 199.71e6} {
					m.Flows[2].GoodputBps = bps
					if text := measureText(t, m, width); strings.Contains(text, "10.0.0.2 ") != (several &&
						width >= 100) {
						t.Errorf("width %d, several addresses %t, %v bit/s:\n%s", width, several, bps, text)
					}
				}
			}
		}
	}
}

func TestPeerText(t *testing.T) {
	want := `measure 10.0.0.1:5202 · iperf3 3.12 · TCP, 1 flow · 10 s, after 1 s of warm-up ·
cubic

  write   941.2 Mbit/s   acknowledged by the server's kernel, in the window;
                         99.97 % of the limit of this host's interface,
                         941.5 Mbit/s (1 Gbit/s × 1448/1538); 940 Mbit/s to
                         942 Mbit/s by interval
          940.7 Mbit/s   iperf3's own: it received 1.19 GB in its 10.1 s
`
	if got := measureText(t, showtest.WithPeer(record.CountedAcknowledged), 80); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant it to begin\n%s", got, want)
	}
	for counted, parts := range map[string][]string{
		record.CountedAcknowledged: {"the server reports 12 % of a CPU", "Unknown a common window",
			"2 of 2 checks passed"},
		record.CountedReceived: {"received here, in the window",
			"it sent 1.19 GB in its 10.1 s, and resent 7 segments"},
		record.CountedLessLoss: {"sent here in the window, less the 0.6 % that the server counts as lost; ",
			"5,000 missing", "RFC 1889"},
		record.CountedByPeer: {
			"received there, by the server's own time of 10.1 s; 939.4 Mbit/s sent here in the window of 10 s; ",
			"822,000 sent here in the window, 821,000 received there with the warm-up, 5,000 missing", "RFC 1889"},
	} {
		for _, width := range []int{60, 80, 120} {
			text := strings.Join(strings.Fields(measureText(t, showtest.WithPeer(counted), width)), " ")
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s, width %d: no %q in\n%s", counted, width, part, text)
				}
			}
		}
	}
	silent := showtest.WithPeer(record.CountedAcknowledged)
	silent.Directions[0].Peer.Seconds, silent.Directions[0].Peer.GoodputBps = 0, 0
	if text := strings.Join(strings.Fields(measureText(t, silent, 80)), " "); !strings.Contains(text,
		"? iperf3's own: it received 1.19 GB, and does not report in what time") {
		t.Errorf("an old server's figure:\n%s", text)
	}
}

func TestMeasureText(t *testing.T) {
	want := `measure 10.0.0.1:5202 · TCP, 1 flow · 10 s, after 1 s of warm-up · cubic

  write   941.2 Mbit/s   99.97 % of the limit of the ends' interfaces, 941.5 Mbit/s (1 Gbit/s ×
                         1448/1538); 940 Mbit/s to 942 Mbit/s by interval

  flow   goodput    resent     RTT at end   held back by
  w1     1 Mbit/s   2.896 kB   1.2 ms       network

  CPU       per gigabyte: client 0.31 s (all of its 8 CPUs 5.0 % busy), server 0.22 s (all of its 1
            CPU 30 % busy); together 0.53 s
  Trust     2 of 2 checks passed: wire, limit
`
	if got := measureText(t, showtest.Measurement(1), 100); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is wrong is shown in full, on a narrow terminal, too.
func TestMeasureTextTells(t *testing.T) {
	m := showtest.Measurement(40)
	m.Trust = append(m.Trust, record.Check{Check: "foreign-traffic",
		Detail: "client: its interfaces sent 1 GB that belongs to no flow"})
	m.Expect = &record.Expectation{Gate: ">= 1gbit"}
	m.Directions[0].LimitBps, m.Directions[0].LimitWhy = 0,
		"unknown: neither end's interface has hardware that reports a speed"
	m.Ends[1].Others = &netstate.OtherFlows{Clients: 2, Flows: 3, ReceivedBytes: 1e9, WrittenBytes: 5e8}
	m.Flows[39].Error = "connection reset by the peer"
	for _, width := range []int{60, 80, 120} {
		text := strings.Join(strings.Fields(measureText(t, m, width)), " ")
		for _, part := range []string{
			"Doubt foreign-traffic: client: its interfaces sent 1 GB that belongs to no flow", "2 of 3 checks passed",
			">= 1gbit: not met", "limit unknown: neither", "1.5 GB moved for 2 other clients",
			"The 16 slowest of 40 flows; the fastest, w1, had 40 Mbit/s", "connection reset by the peer",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("width %d: no %q in\n%s", width, part, measureText(t, m, width))
			}
		}
	}
}

// TestMeasureNamed: a measurement's name is beside the ID of its run.
func TestMeasureNamed(t *testing.T) {
	m := showtest.Measurement(1)
	m.Run, m.Name = "measure-7", "after the new cable"
	if got, want := measureText(t, m, 100),
		"measure-7 “after the new cable” (linerate report measure-7)"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// TestMeasureTextOneMachine: the CPUs of a machine that has both ends are counted once, and what
// the modes that were tried cost is left to JSON.
func TestMeasureTextOneMachine(t *testing.T) {
	m := showtest.Measurement(1)
	m.OneMachine, m.Ends[1].CPUs, m.Ends[1].CPUBusy = true, m.Ends[0].CPUs, m.Ends[0].CPUBusy
	m.Flows[0].SendMode, m.Flows[0].ModeNote = "copy", "splice: no room for a pipe; "+flow.ModesTried+
		"copy 1.2, write 1.3"
	text := strings.Join(strings.Fields(measureText(t, m, 80)), " ")
	if strings.Count(text, "% busy") != 1 ||
		!strings.Contains(text, "server 0.22 s; together 0.53 s, on one machine (all of its 8 CPUs 5.0 % busy)") {
		t.Errorf("%s", text)
	}
	m.Ends[0].AllowedCPUs = []int{3}
	if text := measureText(t, m, 200); !strings.Contains(text,
		"all of its 8 CPUs 5.0 % busy; linerate may use 1 of them)") {
		t.Errorf("%s", text)
	}
	if !strings.Contains(text, "no room for a pipe") || strings.Contains(text, "tried") {
		t.Errorf("%s", text)
	}
}
