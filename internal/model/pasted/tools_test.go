package pasted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// asJSON is a value as documents have it.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// texts that the fuzzer begins with, of each tool, short ones; all of them are understood.
var toolTexts = map[string]string{
	"link": "Settings for eth0:\n\tSupported link modes:   100baseT/Full\n\t                        " +
		"2500baseX/Full\n\tAdvertised link modes:  100baseT/Full\n\tSpeed: 100Mb/s\n\tDuplex: " +
		"Full\n\tAuto-negotiation: on\n\tLink detected: yes\nnetlink error: Operation not permitted\n",
	"no modes": "Settings for veth0:\n\tSupported link modes:   Not reported\n\tSpeed: " +
		"10000Mb/s\n\tAuto-negotiation: off\n\tLink detected: no\n",
	"optical": "Settings for eth0:\n\tSupported link modes:   10000baseSR/Full\n\tSupports auto-negotiation: " +
		"No\n\tSpeed: 10000Mb/s\n\tAuto-negotiation: off\nSettings for eth1:\n\tSupported link modes:   " +
		"1000baseT/Full\n\tSupports auto-negotiation: Yes\n\tAuto-negotiation: off\n",
	"features": "Features for eth0:\nrx-checksumming: on [fixed]\ntcp-segmentation-offload: " +
		"on\n\ttx-tcp-segmentation: off [requested on]\nlarge-receive-offload: off [fixed]\n",
	"rings": "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\nCurrent hardware " +
		"settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t256\n",
	"channels": "Channel parameters for eth0:\nPre-set maximums:\nCombined:\t8\nCurrent hardware " +
		"settings:\nCombined:\t2\n",
	"coalescing": "Coalesce parameters for eth0:\nAdaptive RX: on  TX: " +
		"off\n\nrx-usecs:\t3\nrx-frames:\t8\ntx-usecs:\tn/a\n",
	"pause": "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\toff\nTX:\t\ton\nRX negotiated: off\n",
	"driver": "$ ethtool -i eth0\ndriver: igb\nversion: 6.1.0\nfirmware-version: N/A\nexpansion-rom-version: " +
		"\nbus-info: 0000:03:00.0\nsupports-test: yes\n",
	"statistics": "$ ethtool -S eth0 | grep rx_\n     rx_queue_0_drops: 5\n     rx_no_buffer_count: 0\n     " +
		"rx_missed_errors: 7\n     rx_dropped: 3\n",
}

// TestNIC: each part of what ethtool prints of a NIC is in the record's, and the counters of
// its driver are in those of the interface.
func TestNIC(t *testing.T) {
	for name, want := range map[string]string{
		"link":       `[{"interface":"eth0","operstate":"up","carrier":true,"carrier_changes":0,"tx_queue_len":0,"speed_mbps":100,"duplex":"full","autoneg":true,"best_mbps":2500,"offered_mbps":100}]`,
		"no modes":   `[{"interface":"veth0","operstate":"down","carrier":false,"carrier_changes":0,"tx_queue_len":0,"speed_mbps":10000}]`,
		"optical":    `[{"interface":"eth0","carrier":true,"carrier_changes":0,"tx_queue_len":0,"speed_mbps":10000,"best_mbps":10000},{"interface":"eth1","carrier":true,"carrier_changes":0,"tx_queue_len":0,"autoneg":false,"best_mbps":1000}]`,
		"features":   `[{"interface":"eth0","carrier":true,"carrier_changes":0,"tx_queue_len":0,"features":{"rx-checksum":true,"tx-tcp-segmentation":false},"fixed_features":["rx-checksum","rx-lro"],"unmet_features":["tx-tcp-segmentation"]}]`,
		"rings":      `[{"interface":"eth0","carrier":true,"carrier_changes":0,"tx_queue_len":0,"rings":{"rx":512,"most_rx":4096,"tx":256,"most_tx":4096}}]`,
		"channels":   `[{"interface":"eth0","carrier":true,"carrier_changes":0,"tx_queue_len":0,"channels":{"rx":0,"most_rx":0,"tx":0,"most_tx":0,"combined":2,"most_combined":8}}]`,
		"coalescing": `[{"interface":"eth0","carrier":true,"carrier_changes":0,"tx_queue_len":0,"coalesce":{"rx_us":3,"rx_frames":8,"tx_us":0,"tx_frames":0,"adaptive_rx":true,"adaptive_tx":false}}]`,
		"pause":      `[{"interface":"eth0","carrier":true,"carrier_changes":0,"tx_queue_len":0,"pause":{"autoneg":true,"rx":false,"tx":true}}]`,
		"driver":     `[{"interface":"eth0","driver":"igb","driver_version":"6.1.0","bus":"0000:03:00.0","carrier":true,"carrier_changes":0,"tx_queue_len":0}]`,
		"statistics": `[{"interface":"eth0","carrier":true,"carrier_changes":0,"tx_queue_len":0,"driver_counters":{"rx_dropped":3,"rx_missed_errors":7,"rx_queue_0_drops":5},"counters_like":"igb","meanings":{"rx_fifo_full":7,"rx_no_buffer":5}}]`,
	} {
		p := parse(t, toolTexts[name])
		s := p.Machines[0]
		if got := asJSON(t, s.State.NICs); got != want || len(p.Machines) != 1 || p.Lost > 0 {
			t.Errorf("%s: %d machines, not understood %q:\n%s, want\n%s", name, len(p.Machines),
				p.NotUnderstood, got, want)
		}
		if name != "statistics" {
			continue
		}
		if c := s.Reading.End.Interfaces; len(c) != 1 || c[0].RxMissed != 7 || c[0].RxDropped != 3 ||
			c[0].RxErrors != 0 {
			t.Errorf("%+v", c)
		}
	}
}

// TestNICs: the parts of several interfaces of one machine are together, and a part that comes
// again is of another machine. The kernel's counters hold where both are there.
func TestNICs(t *testing.T) {
	link := func(name string) string { return "Settings for " + name + ":\n\tSpeed: 1000Mb/s\n" }
	for text, want := range map[string]string{
		link("eth0") + "NIC statistics:\n     rx_missed_errors: 5\n\n" + link("eth1"): "host1: eth0 eth1 5",
		link("eth0") + link("eth0"): "host1: eth0 0, host2: eth0 0",
		"nas:~# ethtool eth0\n" + link("eth0") + "nas:~# ethtool eth0\n" +
			link("eth0"): "nas: eth0 0",
		"$ ip -s link\n2: eth0: <UP> mtu 1500\n    RX: bytes packets errors dropped missed mcast\n 1 2 3 4 9 6\n" +
			toolTexts["statistics"]: "host1: eth0 9",
		"NIC statistics:\n     rx_out_of_buffer: 4\n     rx_discards_phy: 0\n     rx_crc_errors_phy: 0\n": "host1: nic 4",
		// of an unknown driver
		"NIC statistics:\n     rx_out_of_buffer: 4\n     unheard_of: 1\n":                                       "host1: nic 0",
		"2: eth0: <UP> mtu 1500\n\ndriver: mlx5_core\nbus-info: 1\nNIC statistics:\n     rx_out_of_buffer: 4\n": "host1: eth0 4",
		"ethtool --statistics enp3s0f0np0 2>/dev/null\nNIC statistics:\n     [0]: rx_ucast_packets: 3\n     Rx " +
			"Queue#: 0\n     rx_missed_errors: 2\nethtool\n": "host1: enp3s0f0np0 2",
	} {
		var list []string
		p := parse(t, text)
		for _, m := range p.Machines {
			row, missed := m.Reading.Host+":", uint64(0)
			for _, n := range m.State.NICs {
				row += " " + n.Interface
			}
			for _, c := range m.Reading.End.Interfaces {
				missed += c.RxMissed
			}
			list = append(list, fmt.Sprint(row, " ", missed))
		}
		if got := strings.Join(list, ", "); got != want || p.Lost > 0 {
			t.Errorf("%q: %s, want %s; not understood %q", text, got, want, p.NotUnderstood)
		}
	}
}

// TestOtherBlocks: what ethtool prints with other options is listed, and not taken for settings.
func TestOtherBlocks(t *testing.T) {
	p := parse(t,
		"$ ethtool -i eth0\ndriver: igb\n$ ethtool --show-priv-flags eth0\nPrivate flags for "+
			"eth0:\nlegacy-rx: off\n")
	if len(p.Machines) != 1 || p.Lost == 0 || len(p.Machines[0].State.NICs) != 1 {
		t.Errorf("%+v", p)
	}
}

const socketHeads = "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"

// TestSockets: sockets are of the protocol that the row, the command or the table says, each
// once, and connections are counted by state.
func TestSockets(t *testing.T) {
	const estab, unconn, listen = "ESTAB 0 7 192.0.2.1:22 192.0.2.2:5000\n", "UNCONN 9 0 0.0.0.0:53 0.0.0.0:*\n",
		"LISTEN 1 128 127.0.0.53%lo:53 0.0.0.0:*\n"
	for text, want := range map[string]string{
		socketHeads + estab: "map[ESTAB:1] 1 []",
		socketHeads + estab +
			"ESTAB 0 0 192.0.2.1:22 192.0.2.2:5001\nTIME-WAIT 0 0 192.0.2.1:22 192.0.2.2:5002\n": "map[ESTAB:2 " +
			"TIME-WAIT:1] 1 []",
		socketHeads + unconn + estab:                             "map[] 0 [udp 0.0.0.0:53 9 0 udp 192.0.2.1:22 0 0]",
		"$ ss -un\n" + socketHeads + estab:                       "map[] 0 [udp 192.0.2.1:22 0 0]",
		"$ ss -tan\n" + socketHeads + estab:                      "map[ESTAB:1] 1 []",
		"Netid " + socketHeads + "udp " + estab + "tcp " + estab: "map[ESTAB:1] 1 [udp 192.0.2.1:22 0 0]",
		"Netid " + socketHeads + "u_str ESTAB 0 0 * 1 * 2\nnl UNCONN 0 0 rtnl:NetworkManager/711 *\ntcp " +
			listen: "map[] 0 [tcp 127.0.0.53:53 1 128]",
		socketHeads + listen +
			"LISTEN 0 511 *:80 *:*\nLISTEN 0 5 [fe80::1%eth0]:22 [::]:*\nLISTEN 0 5 0.0.0.0:ssh 0.0.0.0:*\n": "map[] 0 [tcp 0.0.0.0:ssh 0 5 tcp 127.0.0.53:53 1 128 tcp [::]:80 0 511 tcp [fe80::1]:22 0 5]",
		"$ ss -tn\n" + socketHeads + estab + "$ ss -tin\n" + socketHeads +
			estab: "map[ESTAB:1] 1 []",
		"Total: 9\nTCP:   30 (estab 3, closed 20, orphaned 4, timewait 19/0), ports 0\n\nTransport Total IP " +
			"IPv6\n*\t  9 - -\nTCP\t  6 4 2\n" +
			socketHeads + estab: "map[ESTAB:3 SYN-RECV:0 TIME-WAIT:19] 1 []",
	} {
		p := parse(t, text)
		s := p.Machines[0].State
		var listeners []string
		for _, l := range s.Listeners {
			listeners = append(listeners, fmt.Sprint(l.Protocol, " ", l.Local, " ", l.Queued, " ", l.Backlog))
		}
		states := map[string]int{}
		for state, n := range s.TCP {
			states[state] = n
		}
		if strings.Contains(text, "orphaned") {
			if s.Sockstat["TCP.orphan"] != 4 || !slices.Contains(p.Machines[0].Pasted, "sockstat") {
				t.Errorf("%v, %v", s.Sockstat, p.Machines[0].Pasted)
			}
			states["SYN-RECV"] += 0
		}
		if got := fmt.Sprint(states, " ", len(s.Notable), " ", listeners); got != want || p.Lost > 0 ||
			len(p.Machines) != 1 {
			t.Errorf("%q: %s, want %s; not understood %q", text, got, want, p.NotUnderstood)
		}
	}
}

// TestUDPMemory: of a UDP socket ss -m has the drops and the receive buffer.
func TestUDPMemory(t *testing.T) {
	l := parse(t, "$ ss -ulnm\n"+socketHeads+
		"UNCONN 9 0 0.0.0.0:53 0.0.0.0:*\n\t skmem:(r9,rb33554432,t0,tb212992,f0,w0,o0,bl0,d500)\n").Machines[0].State.Listeners[0]
	if l.Protocol != "udp" || l.Drops != 500 || l.ReceiveBuffer != 33554432 {
		t.Errorf("%+v", l)
	}
}

// TestTCPInfo: what ss prints of a connection is in its TCP_INFO, in the record's units.
func TestTCPInfo(t *testing.T) {
	p := parse(t, socketHeads+`ESTAB 0 100 192.0.2.1:22 192.0.2.2:5000 users:(("sshd",pid=7,fd=4)) timer:(on,204ms,1)
	 skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d3) ts sack ecn bbr wscale:7,8 rto:204 backoff:1 rtt:1.5/0.25 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:12 ssthresh:9 bytes_sent:1000 bytes_retrans:10 bytes_acked:900 bytes_received:5 segs_out:20 segs_in:21 bbr:(bw:5Mbps,mrtt:0.01) send 93Mbps pacing_rate 1.5Gbps delivery_rate 2000bps delivered:19 delivered_ce:2 app_limited busy:40ms rwnd_limited:10ms(25.0%) sndbuf_limited:4ms(10.0%) unacked:3 retrans:1/4 sacked:2 dsack_dups:5 reord_seen:6 rcv_space:14480 notsent:50 minrtt:0.5 snd_wnd:64128
`)
	c := p.Machines[0].State.Notable[0]
	want := `{"state":0,"ca_state":0,"retransmits":1,"backoff":1,"options":15,"snd_mss":1448,"rcv_mss":536,"pmtu":1500,"rtt_us":1500,"rttvar_us":250,"min_rtt_us":500,"snd_cwnd":12,"snd_ssthresh":9,` +
		`"snd_wnd_bytes":64128,"rcv_space_bytes":14480,"unacked":3,"sacked":2,"total_retrans":4,"pacing_rate_bps":1500000000,"delivery_rate_bps":2000,"bytes_acked":900,"bytes_received":5,"bytes_sent":1000,"bytes_retrans":10,` +
		`"notsent_bytes":50,"segs_out":20,"segs_in":21,"busy_us":40000,"rwnd_limited_us":10000,"sndbuf_limited_us":4000,"delivered":19,"delivered_ce":2,"reord_seen":6,"dsack_dups":5}`
	if got := asJSON(t, c.Info); got != want || c.Program != "sshd" || c.CongestionControl != "bbr" ||
		c.SendQueue != 100 {
		t.Errorf("%s %s\n%s, want\n%s", c.Program, c.CongestionControl, got, want)
	}
	// An ss that does not know the window is no sign of a closed one; one that knows it, or the
	// timer, is.
	for text, want := range map[string]bool{"\tcubic rto:204 mss:1448": true,
		"\tcubic rto:204 mss:1448 rcv_wnd:64256": false, "\tcubic rto:204 mss:1448 snd_wnd:5": false} {
		c := parse(t, socketHeads+"ESTAB 0 1 192.0.2.1:22 192.0.2.2:5000\n"+text+"\n").Machines[0].State.Notable[0]
		if lacks := c.Info.Lacking("snd_wnd_bytes") != ""; lacks != want {
			t.Errorf("%q: the window is unknown: %t", text, lacks)
		}
	}
	closed := parse(t, socketHeads+
		"ESTAB 0 1 192.0.2.1:22 192.0.2.2:5000 timer:(persist,1sec,3)\n\tcubic rto:204 mss:1448\n").Machines[0].State.Notable[0]
	if closed.Info.Lacking("snd_wnd_bytes") != "" || closed.Info.Backoff != 3 {
		t.Errorf("%+v", closed.Info)
	}
}

// TestRoutes: routes and rules are as snapshots have them, and rules whose tables the text does
// not have are not taken for rules without routes.
func TestRoutes(t *testing.T) {
	const v4 = "default via 192.0.2.1 dev eth0 proto dhcp metric 100\n192.0.2.0/24 dev eth0 proto kernel scope " +
		"link src 192.0.2.2\n"
	for text, want := range map[string]string{
		v4: `0.0.0.0/0 254 "default via 192.0.2.1 dev eth0 proto dhcp metric 100"; 192.0.2.0/24 254 "192.0.2.0/24 ` +
			`dev ` +
			`eth0 proto kernel scope link src 192.0.2.2"`,
		"default via fe80::1 dev eth0 proto ra metric 1024 pref medium\n":                                         `::/0 254 "default via fe80::1 dev eth0 proto ra metric 1024 pref medium"`,
		"default via inet6 fe80::1 dev eth0\n":                                                                    `0.0.0.0/0 254 "default via inet6 fe80::1 dev eth0"`,
		"$ ip -6 route\ndefault dev tun0 metric 5\n":                                                              `::/0 254 "default dev tun0 metric 5"`,
		"192.0.2.9 dev eth0 proto static scope link\n":                                                            `192.0.2.9/32 254 "192.0.2.9 dev eth0 proto static scope link"`,
		"$ ip route show table 101\ndefault via 192.0.2.1 dev eth1\n":                                             `0.0.0.0/0 101 "default via 192.0.2.1 dev eth1"`,
		"local 192.0.2.2 dev eth0 table local proto kernel scope host src 192.0.2.2\n":                            `192.0.2.2/32 255 "local 192.0.2.2 dev eth0 proto kernel scope host src 192.0.2.2"`,
		"unreachable default dev lo metric 4294967295 error -101\nprohibit 10.0.0.0/8\n":                          `0.0.0.0/0 254 "unreachable default dev lo metric 4294967295 error -101"; 10.0.0.0/8 254 "prohibit 10.0.0.0/8"`,
		"default proto static\n\tnexthop via 192.0.2.1 dev eth0 weight 1\n\tnexthop dev tun0 weight 2 linkdown\n": `0.0.0.0/0 254 "default proto static nexthop via 192.0.2.1 dev eth0 weight 1 nexthop dev tun0 weight 2 linkdown" [{eth0 192.0.2.1 1 false} {tun0  2 true}]`,
		"$ ip route\n" + v4 + "$ ip route\n" +
			v4: `0.0.0.0/0 254 "default via 192.0.2.1 dev eth0 proto dhcp metric 100"; 192.0.2.0/24 254 ` +
			`"192.0.2.0/24 ` +
			`dev eth0 proto kernel scope link src 192.0.2.2"`,
		v4 +
			"\ndefault via 192.0.2.99 dev eth0 metric 100\n": `0.0.0.0/0 254 "default via 192.0.2.1 dev eth0 proto ` +
			`dhcp metric 100"; 192.0.2.0/24 254 "192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.2" | ` +
			`0.0.0.0/0 254 "default via 192.0.2.99 dev eth0 metric 100"`,
		"192.0.2.9 via 192.0.2.1 dev eth0 src 192.0.2.2 uid 0\n    cache\n10.0.0.1 from 192.0.2.2 dev eth1 uid 0\n " +
			"   cache expires 5sec\n": `{ 192.0.2.9  0 0  eth0 192.0.2.1 192.0.2.2 0  } {192.0.2.2 10.0.0.1  0 0  ` +
			`eth1   0  }`,
		"0:\tfrom all lookup local\n100:\tfrom 192.0.2.2 lookup main\n" +
			v4[:53]: `0.0.0.0/0 254 "default via 192.0.2.1 dev eth0 proto dhcp metric 100"; {0   255 false} {100 ` +
			`192.0.2.2/32  254 false}`,
		"100:\tfrom 192.0.2.2 lookup 101\n": `{100 192.0.2.2/32  101 true}`,
		"$ ip route show table all\n" + v4[:53] +
			"$ ip rule\n100:\tfrom 192.0.2.2 to 10.0.0.0/8 lookup 101 proto static\n": `0.0.0.0/0 254 "default via ` +
			`192.0.2.1 dev eth0 proto dhcp metric 100"; {100 192.0.2.2/32 10.0.0.0/8 101 false}`,
		"5:\tfrom all fwmark 0x1 lookup main\n6:\tnot from 10.0.0.0/8 lookup main\n7:\tfrom all " +
			"unreachable\n8:\tfrom all lookup vpn\n": `{5   254 true} {6 10.0.0.0/8  254 true} {7   0 true} {8   ` +
			`1073741824 true}`,
	} {
		var machines []string
		p := parse(t, text)
		for _, m := range p.Machines {
			s := m.Reading.Snapshot
			var list []string
			for _, r := range s.Routes {
				row := fmt.Sprintf("%s %d %q", r.To, r.Table, r.Text)
				if len(r.Nexthops) > 0 {
					row += fmt.Sprint(" ", r.Nexthops)
				}
				list = append(list, row)
			}
			if len(s.Rules) > 0 {
				list = append(list, strings.Trim(fmt.Sprint(s.Rules), "[]"))
			}
			if len(s.Lookups) > 0 {
				list = append(list, strings.Trim(fmt.Sprint(s.Lookups), "[]"))
			}
			machines = append(machines, strings.Join(list, "; "))
		}
		if got := strings.Join(machines, " | "); got != want || p.Lost > 0 {
			t.Errorf("%q: not understood %q\n%s, want\n%s", text, p.NotUnderstood, got, want)
		}
	}
}

// TestKernel: parameters, softnet_stat, qdiscs and the log.
func TestKernel(t *testing.T) {
	p := parse(t, `nas:~# sysctl -a
net.ipv4.conf.eth0/100.rp_filter = 1
net.ipv4.tcp_rmem = 4096	131072	6291456
net.ipv4.tcp_available_ulp =
kernel.core_pattern = |/usr/lib/core %p
sysctl: reading key "net.ipv6.conf.all.stable_secret"
nas:~# cat /proc/net/softnet_stat
0000000a 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000005 00000007
nas:~# tc -s qdisc
qdisc mq 0: dev eth0 root 
 Sent 100 bytes 2 pkt (dropped 3, overlimits 4 requeues 5) 
 backlog 1.5Kb 6p requeues 5
qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 
 Sent 100 bytes 2 pkts (dropped 3, overlimits 4 requeues 5) 
 rate 8bit 0pps backlog 0b 0p requeues 0 
  maxpacket 0 drop_overlimit 0 new_flow_count 0 ecn_mark 0
qdisc pfifo 8001: dev eth1 root refcnt 2 limit 1000p
qdisc red 8002: dev eth2 root refcnt 2 limit 400Kb min 30Kb max 90Kb 
nas:~# dmesg -x
kern  :info  : [    1.500000] igb 0000:03:00.0 eth0: igb: eth0 NIC Link is Up 1000 Mbps Full Duplex
kern  :info  : [    2.500000] EXT4-fs (sda1): mounted filesystem
<3>[    3.000000] bonding: bond0: link status definitely down
[Thu Nov 26 00:53:52 2026] neighbour: arp_cache: neighbor table overflow!
`)
	s := p.Machines[0]
	if len(p.Machines) != 1 || p.Lost > 0 {
		t.Fatalf("%d machines, not understood %q", len(p.Machines), p.NotUnderstood)
	}
	for want, got := range map[string]any{
		`{"net.ipv4.conf.eth0/100.rp_filter":"1","net.ipv4.tcp_available_ulp":"","net.ipv4.tcp_rmem":"4096\t131072\t6291456"}`:          s.Reading.Snapshot.Sysctls,
		`[{"cpu":0,"processed":10,"dropped":2,"squeezed":3,"backlog":0},{"cpu":7,"processed":10,"dropped":0,"squeezed":0,"backlog":5}]`: s.Reading.End.Softnet,
		`[{"interface":"eth0","kind":"mq","handle":"0:","bytes":100,"packets":2,"drops":3,"overlimits":4,"backlog_bytes":1536,"qlen_packets":6,"requeues":5},` +
			`{"interface":"eth0","kind":"fq_codel","handle":"0:","bytes":100,"packets":2,"drops":3,"overlimits":4,"backlog_bytes":0,"qlen_packets":0,"requeues":5},` +
			`{"interface":"eth1","kind":"pfifo","handle":"8001:","bytes":0,"packets":0,"drops":0,"overlimits":0,"backlog_bytes":0,"qlen_packets":0,"requeues":0},` +
			`{"interface":"eth2","kind":"red","handle":"8002:","bytes":0,"packets":0,"drops":0,"overlimits":0,"backlog_bytes":0,"qlen_packets":0,"requeues":0}]`: s.Reading.End.Qdiscs,
		`[{"interface":"eth1","index":0,"mac":"","mtu":0,"up":true,"qdiscs":[{"parent":"root","kind":"pfifo","options":{"limit":"1000"}}]}]`: s.Reading.Snapshot.Interfaces,
		`{"lines":[{"at_ns":1500000000,"level":6,"text":"igb 0000:03:00.0 eth0: igb: eth0 NIC Link is Up 1000 Mbps ` +
			`Full Duplex"},{"at_ns":3000000000,"level":3,"text":"bonding: bond0: link status definitely down"},` +
			`{"at_ns":0,"level":4,"text":"neighbour: arp_cache: neighbor table overflow!"}]}`: s.State.Log,
		`["kernel log","parameters","qdiscs","softnet"]`: s.Pasted,
	} {
		if asJSON(t, got) != want {
			t.Errorf("%s, want\n%s", asJSON(t, got), want)
		}
	}
	if s.Host.CPUs != 2 {
		t.Errorf("%d CPUs", s.Host.CPUs)
	}
	// Another value behind an empty line is of another machine, another parameter is not.
	if p := parse(t, "net.core.somaxconn = 4096\n\nnet.core.rmem_max = 1\n\nnet.core.somaxconn = 128\n"); len(
		p.Machines) != 2 || len(p.Machines[0].State.Parameters) != 2 {
		t.Errorf("%+v", p.Machines)
	}
}

// TestClassesOfHTB: the rate of a shaper is that of the one class at its root; of several, none is known.
func TestClassesOfHTB(t *testing.T) {
	const one = "class htb 1:10 root rate 10Mbit ceil 95Mbit burst 1600b cburst 1600b\n"
	const other = "class htb 1:20 root rate 10Mbit ceil 50Mbit burst 1600b cburst 1600b\n"
	for text, want := range map[string]float64{one: 95e6, one + one: 95e6, one + other: 0, one + other + one: 0} {
		p, err := Parse("nas$ tc class show dev eth0\n" + text)
		if err != nil || len(p.Machines) != 1 {
			t.Fatal(err)
		}
		got := 0.0
		for _, i := range p.Machines[0].Reading.Snapshot.Interfaces {
			if i.Shaper != nil {
				got = i.Shaper.RateBps
			}
		}
		if got != want {
			t.Errorf("%q: %g bit/s, want %g", text, got, want)
		}
	}
}
