package report

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

func measurement(flows int) *record.Measure {
	m := &record.Measure{
		Address: "10.0.0.1:5202", Protocol: "tcp", DurationS: 10, WarmupS: 1, CPUSPerGigabyte: 0.53,
		Directions: []record.MeasureDirection{{
			Direction: "write", Flows: flows, GoodputBps: 941.2e6, LimitBps: 941.5e6, LimitWhy: "1 Gbit/s × 1448/1538",
			Intervals: []record.MeasureInterval{{GoodputBps: 940e6}, {GoodputBps: 942e6}},
		}},
		Ends: []record.MeasureEnd{
			{HostEnvironment: record.HostEnvironment{Host: "client", CPUs: 8}, CPUSPerGigabyte: 0.31, CPUBusy: 0.05},
			{HostEnvironment: record.HostEnvironment{Host: "server", CPUs: 1}, CPUSPerGigabyte: 0.22, CPUBusy: 0.3},
		},
		Trust: []record.Check{{Check: "wire", Pass: true}, {Check: "limit", Pass: true}},
	}
	for i := range flows {
		m.Flows = append(m.Flows, record.Flow{
			ID: fmt.Sprintf("w%d", i+1), Source: "10.0.0.2:33000", Destination: "10.0.0.1:5202", Connected: true,
			GoodputBps: float64(flows-i) * 1e6, RetransBytes: 2896, CongestionControl: "cubic",
			LimitedBy: "network", SenderInfo: &record.TCPInfo{RTTUs: 1234},
		})
	}
	return m
}

func measureText(t *testing.T, m *record.Measure, width int) string {
	t.Helper()
	var b strings.Builder
	if err := Measure(&b, m, TextOptions{Width: width}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if cells(strings.TrimSuffix(line, "\n")) > width {
			t.Errorf("wider than %d: %s", width, line)
		}
	}
	return b.String()
}

func TestMeasureText(t *testing.T) {
	want := `measure 10.0.0.1:5202 · TCP, 1 flow · 10 s after 1 s · cubic

  write   941.2 Mbit/s   99.97 % of the limit, 941.5 Mbit/s (1 Gbit/s × 1448/1538); 940 Mbit/s to
                         942 Mbit/s by interval

  flow   from             to              goodput    resent    RTT      held back by
  w1     10.0.0.2:33000   10.0.0.1:5202   1 Mbit/s   2.90 kB   1.2 ms   network

  CPU       0.53 s per gigabyte, both ends together: client 0.31 s (all of its 8 CPUs 5.0 % busy),
            server 0.22 s (all of its 1 CPU 30 % busy)
  Trust     2 of 2 checks passed: wire, limit
`
	if got := measureText(t, measurement(1), 100); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is wrong is told in full, on a narrow terminal, too.
func TestMeasureTextTells(t *testing.T) {
	m := measurement(40)
	m.Trust = append(m.Trust, record.Check{Check: "foreign-traffic", Detail: "client: its interfaces sent 1 GB that belongs to no flow"})
	m.Expect = &record.Expectation{Gate: ">= 1gbit"}
	m.Directions[0].LimitBps, m.Directions[0].LimitWhy = 0, "unknown: neither end's interface tells a speed"
	m.Ends[1].Others = &record.OtherFlows{Clients: 2, Flows: 3, ReceivedBytes: 1e9, WrittenBytes: 5e8}
	m.Flows[39].Error = "connection reset by the peer"
	for _, width := range []int{60, 80, 120} {
		text := strings.Join(strings.Fields(measureText(t, m, width)), " ")
		for _, part := range []string{
			"Doubt foreign-traffic: client: its interfaces sent 1 GB that belongs to no flow", "2 of 3 checks passed",
			">= 1gbit: not met", "limit unknown: neither", "1.50 GB for other clients", "2 other clients",
			"The 16 slowest of 40 flows; the fastest, w1, had 40 Mbit/s", "connection reset by the peer",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("width %d: no %q in\n%s", width, part, measureText(t, m, width))
			}
		}
	}
}

func TestVolume(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 2896: "2.90 kB", 1e6: "1.00 MB", 117e7: "1.17 GB", 25e11: "2.50 TB"} {
		if got := Volume(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}
