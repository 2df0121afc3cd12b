package measure

import (
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// TestUnknownLoss: an iperf3 server does not say whether its own receive buffer lost the
// datagrams that it misses; of those that this host misses, nothing is unknown.
func TestUnknownLoss(t *testing.T) {
	for direction, want := range map[string]bool{flow.Write: true, flow.Read: false} {
		for lost, want := range map[int64]bool{3: want, 0: false} {
			m := &record.Measure{Directions: []record.MeasureDirection{
				{Direction: direction, Peer: &record.PeerCount{Datagrams: &record.Datagrams{Lost: lost}}}}}
			list := strings.Join((&session{}).unknown(m, message.Iperf3Closed{}), "\n")
			if strings.Contains(list, "UdpRcvbufErrors") != want {
				t.Errorf("%s, %d lost: %s", direction, lost, list)
			}
		}
	}
}
