package report

import (
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// withPeer is a measurement against an iperf3 server.
func withPeer(counted string) *record.Measure {
	m := measurement(1)
	m.Peer, m.PeerCPUPercent = "iperf3 3.12", 12.4
	m.Unknown = []string{"a common window: iperf3 counts over its own time", "whether the server has done as it was asked"}
	m.Ends = m.Ends[:1]
	d := &m.Directions[0]
	d.Counted = counted
	d.Peer = &record.PeerCount{Bytes: 1_190_000_000, Seconds: 10.12, GoodputBps: 940.7e6, Retransmits: 7}
	if counted == record.CountedReceived {
		d.Direction = "read"
	}
	if counted == record.CountedByPeer {
		m.Protocol = flow.UDP
		d.Peer.WholeTest = true
		d.Peer.Datagrams = &record.Datagrams{Received: 821_000, Lost: 5_000}
		d.Datagrams = &record.Datagrams{Sent: 822_000, Received: 821_000, Lost: 5_000, JitterUs: 13}
		d.LostShare = 0.00605
	}
	return m
}

func TestPeerText(t *testing.T) {
	want := `measure 10.0.0.1:5202 · iperf3 3.12 · TCP, 1 flow · 10 s after 1 s · cubic

  write   941.2 Mbit/s   acknowledged by the server's kernel, in the window;
                         99.97 % of the limit, 941.5 Mbit/s (1 Gbit/s ×
                         1448/1538); 940 Mbit/s to 942 Mbit/s by interval
          940.7 Mbit/s   iperf3's own: it received 1.19 GB in its 10.12 s
`
	if got := measureText(t, withPeer(record.CountedAcknowledged), 80); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant it to begin\n%s", got, want)
	}
	for counted, parts := range map[string][]string{
		record.CountedAcknowledged: {"the server says that it used 12 % of one", "Unknown a common window", "2 of 2 checks passed"},
		record.CountedReceived:     {"received here, in the window", "it sent 1.19 GB in its 10.12 s, and resent 7 segments"},
		record.CountedByPeer:       {"as the server says, over its own time", "822,000 sent here in the window, 821,000 received there with the warm-up, 5,000 missing", "RFC 1889"},
	} {
		for _, width := range []int{60, 80, 120} {
			text := strings.Join(strings.Fields(measureText(t, withPeer(counted), width)), " ")
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s, width %d: no %q in\n%s", counted, width, part, text)
				}
			}
		}
	}
	silent := withPeer(record.CountedAcknowledged)
	silent.Directions[0].Peer.Seconds, silent.Directions[0].Peer.GoodputBps = 0, 0
	if text := strings.Join(strings.Fields(measureText(t, silent, 80)), " "); !strings.Contains(text, "? iperf3's own: it received 1.19 GB, and does not tell in what time") {
		t.Errorf("an old server's figure:\n%s", text)
	}
}
