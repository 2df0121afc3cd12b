package foreign

import (
	"net/netip"
	"testing"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/tool"
)

// TestConnectionsOfAFullQueue: iperf3's data connections are distinguished from the one it
// talks on by how much each end has said. A cookie that was sent again because it was
// lost, or because this host's own queue was full, is still a cookie, and a FIN is no
// word.
func TestConnectionsOfAFullQueue(t *testing.T) {
	iperf3, _ := tool.Find(flow.Tool{Name: "iperf3"})
	server := netip.MustParseAddrPort("10.0.0.2:5201")
	const cookie, streams = 37, 4
	for _, serves := range []bool{false, true} {
		for _, reads := range []bool{false, true} {
			p := &process{tool: iperf3, serves: serves, job: tool.Job{Spec: flow.Spec{Streams: streams}, Reads: reads,
				Destination: server}}
			var list []netlink.Socket
			for i := range streams + 1 {
				opener, acceptor := uint64(1<<20), uint64(0)
				switch {
				case i == 0:
					opener, acceptor = 300, 4
				case reads:
					opener, acceptor = cookie, 1<<20
				}
				if i == 1 { // its reader has sent a FIN
					if reads {
						opener++
					} else {
						acceptor++
					}
				}
				near, far := netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(40000-i)), server
				// with the SYN
				info := netstate.TCPInfo{BytesAcked: opener + 1, BytesSent: opener, BytesReceived: acceptor}
				if serves {
					near, far = far, near
					info = netstate.TCPInfo{BytesAcked: acceptor, BytesSent: acceptor, BytesReceived: opener}
				}
				switch i {
				case 2:
					info.BytesSent, info.BytesRetrans = 3*info.BytesSent, 2*info.BytesSent
				case 3:
					info.BytesSent *= 2 // dropped by this host's own queue
				}
				list = append(list, netlink.Socket{Local: near, Remote: far, Info: &info})
			}
			if got := p.connections(list[:streams]); got != nil {
				t.Errorf("serves %t, reads %t: one is missing, and %d were distinguished", serves, reads, len(got))
			}
			got := p.connections(list)
			if len(got) != streams {
				t.Errorf("serves %t, reads %t: %d data connections of %d", serves, reads, len(got), streams)
				continue
			}
			for i, s := range got {
				if want := uint16(40000 - streams + i); p.openerOf(s).Port() != want {
					t.Errorf("serves %t, reads %t: connection %d is from port %d, want %d", serves, reads, i,
						p.openerOf(s).Port(), want)
				}
			}
		}
	}
}
