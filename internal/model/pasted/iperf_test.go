package pasted

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTransfers: what iperf(1) and iperf3(1) print of each stream: which end sends, what both ends counted, what was
// sent again or lost, and the intervals without a byte.
func TestTransfers(t *testing.T) {
	const connected = "[  5] local 192.0.2.9 port 51000 connected to 192.0.2.1 port 5201\n"
	const client = "Connecting to host 192.0.2.1, port 5201\n"
	for name, c := range map[string]struct{ text, want string }{
		"both ends": {client + connected + `[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   112 MBytes   942 Mbits/sec    7    399 KBytes
[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    5    399 KBytes
[  5]   0.00-2.00   sec   116 MBytes   487 Mbits/sec   12             sender
[  5]   0.00-2.00   sec   112 MBytes   470 Mbits/sec                  receiver
`, `[{"tool":"iperf","protocol":"tcp","from":"192.0.2.9:51000","to":"192.0.2.1:5201","seconds":2,` +
			`"sent_bytes":121634816,"received_bytes":117440512,"retransmitted":12,"intervals":2,"idle_intervals":1}]`},
		"a rate that is asked for": {"$ iperf3 -c 192.0.2.1 -b 100K\n" + client + connected +
			`[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec    0   14.1 KBytes
[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    0   14.1 KBytes
`, `[{"tool":"iperf","protocol":"tcp","from":"192.0.2.9:51000","to":"192.0.2.1:5201","seconds":1,` +
			`"sent_bytes":131072,"retransmitted":0,"intervals":2}]`},
		"the other end sends": {client + "Reverse mode, remote host 192.0.2.1 is sending\n" + connected +
			`[  5]   0.00-1.00   sec   256 KBytes  2.10 Mbits/sec
[  5]   0.00-1.00   sec   256 KBytes  2.10 Mbits/sec    3             sender
`, `[{"tool":"iperf","protocol":"tcp","from":"192.0.2.1:5201","to":"192.0.2.9:51000","seconds":1,` +
			`"sent_bytes":262144,"received_bytes":262144,"retransmitted":3,"intervals":1}]`},
		"both directions": {client + connected + "[  7] local 192.0.2.9 port 51002 connected to 192.0.2.1 port 5201\n" +
			`[  5][TX-C]   0.00-1.00   sec   256 KBytes  2.10 Mbits/sec    0   1.12 MBytes
[  7][RX-C]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec
[  5][TX-C]   0.00-2.00   sec   512 KBytes  2.10 Mbits/sec    0             sender
[  7][RX-C]   0.00-2.00   sec   256 KBytes  1.05 Mbits/sec    4             sender
[  7][RX-C]   0.00-2.00   sec   250 KBytes  1.02 Mbits/sec                  receiver
`, `[{"tool":"iperf","protocol":"tcp","from":"192.0.2.1:5201","to":"192.0.2.9:51002","seconds":2,` +
			`"sent_bytes":262144,"received_bytes":256000,"retransmitted":4,"intervals":1},` +
			`{"tool":"iperf","protocol":"tcp","from":"192.0.2.9:51000","to":"192.0.2.1:5201","seconds":2,` +
			`"sent_bytes":524288,"retransmitted":0,"intervals":1}]`},
		"a server that sends": {"Server listening on 5201\nAccepted connection from 192.0.2.9, port 56522\n" +
			`[  5] local 192.0.2.1 port 5201 connected to 192.0.2.9 port 51000
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   256 KBytes  2.10 Mbits/sec    0             sender
`, `[{"tool":"iperf","protocol":"tcp","from":"192.0.2.1:5201","to":"192.0.2.9:51000","seconds":1,` +
			`"sent_bytes":262144,"retransmitted":0}]`},
		"datagrams": {client + connected + `[  5]   0.00-1.00   sec   256 KBytes  2.10 Mbits/sec  8
[  5]   0.00-1.00   sec   256 KBytes  2.10 Mbits/sec  0.000 ms  0/8 (0%)  sender
[  5]   0.00-1.00   sec   224 KBytes  1.83 Mbits/sec  0.006 ms  1/8 (12%)  receiver
`, `[{"tool":"iperf","protocol":"udp","from":"192.0.2.9:51000","to":"192.0.2.1:5201","seconds":1,` +
			`"sent_bytes":262144,"received_bytes":229376,"datagrams":8,"lost_datagrams":1,"intervals":1}]`},
		"iperf 2": {`Client connecting to 192.0.2.1, TCP port 5001
[  1] local 192.0.2.9 port 53640 connected with 192.0.2.1 port 5001 (icwnd/mss/irtt=14/1448/330)
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0000-1.0000 sec   256 KBytes  2.10 Mbits/sec
[  1] 0.0000-2.0118 sec   640 KBytes  2.61 Mbits/sec
`, `[{"tool":"iperf","from":"192.0.2.9:53640","to":"192.0.2.1:5001","seconds":2.0118,"sent_bytes":655360,` +
			`"mss_bytes":1448,"intervals":1}]`},
		"iperf 2, datagrams": {`Client connecting to 192.0.2.1, UDP port 5001
[  1] local 192.0.2.9 port 56507 connected with 192.0.2.1 port 5001
[  1] 0.0000-1.0095 sec   261 KBytes  2.12 Mbits/sec
[  1] Sent 183 datagrams
[  1] Server Report:
[  1] 0.0000-1.0095 sec   250 KBytes  2.03 Mbits/sec   0.004 ms 8/183 (4.4%)
`, `[{"tool":"iperf","protocol":"udp","from":"192.0.2.9:56507","to":"192.0.2.1:5001","seconds":1.0095,` +
			`"sent_bytes":267264,"received_bytes":256000,"datagrams":183,"lost_datagrams":8,"intervals":1}]`},
		"JSON": {iperfDocument(`"reverse": 0`, `"sender": {"socket": 5, "seconds": 10.0001, "bytes": 1000000,
"retransmits": 9, "max_rtt": 90000, "min_rtt": 1000, "mean_rtt": 45000, "sender": true},
"receiver": {"socket": 5, "seconds": 10.04, "bytes": 900000, "sender": true}`),
			`[{"tool":"iperf","protocol":"tcp","from":"192.0.2.9:51000","to":"192.0.2.1:5201","seconds":10.04,` +
				`"sent_bytes":1000000,"received_bytes":900000,"retransmitted":9,"mss_bytes":1448,"min_rtt_us":1000,` +
				`"mean_rtt_us":45000,"intervals":1,"idle_intervals":1}]`},
		"JSON of datagrams to this end": {iperfDocument(`"reverse": 1`, `"udp": {"socket": 5, "seconds": 1,
"bytes": 262144, "lost_packets": 2, "packets": 8, "sender": false}`),
			`[{"tool":"iperf","protocol":"tcp","from":"192.0.2.1:5201","to":"192.0.2.9:51000","seconds":1,` +
				`"sent_bytes":262144,"mss_bytes":1448,"datagrams":8,"lost_datagrams":2,"intervals":1,"idle_intervals":1}]`},
		"extreme numbers": {iperfDocument(`"reverse": 0`, `"sender": {"socket": 5, "seconds": 1e300, "bytes": -1,
"retransmits": 1e300, "min_rtt": -5, "mean_rtt": 1e300}`),
			`[{"tool":"iperf","protocol":"tcp","from":"192.0.2.9:51000","to":"192.0.2.1:5201","seconds":1000000000,` +
				`"retransmitted":1152921504606846976,"mss_bytes":1448,"mean_rtt_us":1000000000,"intervals":1,` +
				`"idle_intervals":1}]`},
	} {
		p, err := Parse(c.text)
		if err != nil || len(p.Machines) != 1 || p.Lost > 0 {
			t.Errorf("%s: %v, %d machines, %q", name, err, len(p.Machines), p.NotUnderstood)
			continue
		}
		got, err := json.Marshal(p.Machines[0].State.Transfers)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, c.want)
		}
	}
}

// iperfDocument is what iperf3 -J prints of a stream without a byte in its interval.
func iperfDocument(test, end string) string {
	return "$ iperf3 -J -c 192.0.2.1\n" + strings.NewReplacer("TEST", test, "END", end).Replace(`{
"start": {"connected": [{"socket": 5, "local_host": "192.0.2.9", "local_port": 51000,
"remote_host": "192.0.2.1", "remote_port": 5201}], "tcp_mss_default": 1448,
"test_start": {"protocol": "TCP", TEST}},
"intervals": [{"streams": [{"socket": 5, "bytes": 0, "omitted": false}]}, {"streams": [{"socket": 5, "bytes": 0,
"omitted": true}]}],
"end": {"streams": [{END}]}
}
`)
}
