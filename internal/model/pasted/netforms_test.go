package pasted

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

// TestCases: of inputs of people, these lines are not read, each for the reason beside it.
func TestCases(t *testing.T) {
	unread := map[string][]string{
		"01-el6-be2net-ifconfig": {
			"Offload parameters for eth2:", // the head of ethtool -k before 3.5, and what follows it
			"rx-checksumming: on", "tx-checksumming: on", "scatter-gather: on", "tcp-segmentation-offload: on",
			"udp-fragmentation-offload: off", "generic-segmentation-offload: on", "generic-receive-offload: off",
			"large-receive-offload: off"},
		"12-old-netstat-listen": {"12:01:33 up 212 days,  3:11,  1 user,  load average: 8.01, 7.90, 7.88"}, // uptime
		"18-freebsd-state": { // sysctl of FreeBSD
			"dev.igc.0.iflib.txq0.ring_state: pidx_head: 1590 pidx_tail: 1590 cidx: 1592 state: STALLED"},
		"20-same-subnet-synology": { // lsusb
			"/:  Bus 02.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/2p, 5000M",
			"|__ Port 1: Dev 2, If 0, Class=Vendor Specific Class, Driver=r8152, 5000M"},
		"22-udp-pps-old-tg3": {"95255 drops at udp_queue_rcv_skb+374 (0xffffffff815e1c64)"}, // dropwatch
	}
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(string(text))
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, line := range p.NotUnderstood {
			_, line, _ = strings.Cut(line, ": ")
			if !slices.Contains(unread[name], line) {
				t.Errorf("%s: %q is not read", name, line)
			}
		}
		if len(p.Machines) != 1 {
			t.Errorf("%s: %d machines", name, len(p.Machines))
		}
	}
}

// TestNoForwardingTable: a line with the MAC address of an interface is no row of a switch's table,
// whatever precedes it.
func TestNoForwardingTable(t *testing.T) {
	for _, line := range []string{
		"ix0    1500 <Link#1>      02:a0:57:72:b3:8d 91827364  4121     0 81726354     0 91823",
		"ix0 1500 <Link#1> 02:a0:57:72:b3:8d",
		"em0     1500  <Link>      02:0d:b9:00:00:01   917263     3   817263     0    41",
		"eth0      Link encap:Ethernet  HWaddr 02:16:7E:35:C7:C2",
		"        ether 02:16:7e:35:c7:c2  txqueuelen 1000  (Ethernet)",
		"	ether 02:a0:57:72:b3:8d", "	lladdr 02:0d:b9:00:00:01", "	hwaddr 02:1b:21:8b:f8:2d",
		"    link/ether 02:16:7e:35:c7:c2 brd ff:ff:ff:ff:ff:ff", "GENERAL.HWADDR:    02:2A:72:DE:F8:B9",
		"	ethernet (e1000), 02:54:00:AA:BB:01, hw, mtu 1500", "            HW Address: 02:00:00:12:34:56",
		"br0		8000.0200478aa2e8	no		em1",
	} {
		for _, before := range []string{"", "$ netstat -i\n", "$ ifconfig\n", "$ arp -an\n", "sw1:\n"} {
			p, _ := Parse(before + line + "\n" + line + "\n\n" + line + "\n")
			for _, m := range p.Machines {
				if len(m.Reading.Snapshot.FDB) > 0 {
					t.Errorf("%q behind %q: %+v", line, before, m.Reading.Snapshot.FDB)
				}
			}
		}
	}
}

// TestNoFormat: lines that resemble those of a format, and texts of other tools, are not read without
// a command.
func TestNoFormat(t *testing.T) {
	for _, text := range []string{
		"tcp:\n", "Internet:\n", "  12 packets received from host\n", "stream of data\nstream of data\n",
		"kern.hostname: fw\nkern.ostype: FreeBSD\n", "7 abc def ghi jkl\n8 abc def ghi jkl\n", "system UP\nbackup " +
			"DOWN\n",
		"eth0 1500 1 2 3 4 5 6 7 8 BMRU\n", "eth0: no link\n", "  eth0: 1 2 3\n", "inet 192.0.2.1 netmask 0xffffff00\n",
		"UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n", "	member: em0 flags=143<LEARNING,DISCOVER>\n",
		"[ {\n  \"name\": \"x\"\n} ]\n", `[{"name":"x","value":[1,2]}]` + "\n", `[{"dst":5}]` + "\n", `[{"ifindex":"x"}]` + "\n",
		"tcp      6 431999 ESTABLISHED src=192.0.2.1 dst=192.0.2.2 sport=1 dport=2\n",
		"Tcp: 1 2 3\n", "IP: one two\n", "\t\t\t\t\t\tvnet0\n", "0 requests for memory denied\n",
		"default via nowhere\n", "* * * *\n", "eth0:  connected\n", "Proto  Local Address  Foreign Address\n",
		"  TCP    0.0.0.0:135            0.0.0.0:0              LISTENING\n",
		"sockets: 12\n", "TCP: 3 in use\n", "Destination Gateway\n",
	} {
		if p, _ := Parse(text); len(p.Machines) > 0 {
			t.Errorf("%q: %s", text, asJSON(t, p.Machines))
		}
	}
}

// interfaces returns the interfaces, addresses and counters of a machine as short texts.
func interfaces(s netstate.HostSnapshot) string {
	var list []string
	for _, i := range s.Reading.Snapshot.Interfaces {
		list = append(list, fmt.Sprintf("%s %s %d %t %v %s %s", i.Interface, i.MAC, i.MTU, i.Up, i.Addresses, i.Kind,
			i.Master))
	}
	for _, c := range s.Reading.End.Interfaces {
		list = append(list, fmt.Sprintf("%s: %d %d %d %d, %d %d %d %d %d", c.Interface, c.RxPackets, c.RxErrors,
			c.RxDropped, c.RxMissed, c.TxPackets, c.TxErrors, c.TxDropped, c.TxCarrier, c.Collisions))
	}
	for _, n := range s.State.NICs {
		autoneg := "?"
		if n.Autoneg != nil {
			autoneg = fmt.Sprint(*n.Autoneg)
		}
		list = append(list, fmt.Sprintf("%s %t %d %s %s", n.Interface, n.Carrier, n.SpeedMbps, n.Duplex, autoneg))
	}
	return strings.Join(list, "; ")
}

// hosts returns interfaces of the machines of a text.
func hosts(p Text) string {
	var list []string
	for _, m := range p.Machines {
		list = append(list, interfaces(m))
	}
	return strings.Join(list, " | ")
}

// TestInterfaceForms: what ifconfig, netstat -i and others say of an interface that the samples do
// not have, and the number of lines that are not read.
func TestInterfaceForms(t *testing.T) {
	const old = "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:01\n          UP BROADCAST RUNNING  MTU:1500  " +
		"Metric:1\n"
	const counted = "          RX packets:10 errors:3 dropped:9 overruns:0 frame:0\n"
	for text, want := range map[string]string{
		// Two machines without prompts, of which the second one begins with an interface of the first.
		old + counted + "\n" + old: "eth0 02:00:00:00:00:01 1500 true []  ; eth0: 10 3 9 0, 0 0 0 0 0 | " +
			"eth0 02:00:00:00:00:01 1500 true []   0",
		// Addresses whose interface grep removed are of none, and no counters are 0.
		"$ ifconfig | grep inet\n          inet addr:192.0.2.1  Bcast:192.0.2.255  Mask:255.255.255.0\n": " 1",
		"$ ifconfig eth0 | grep -v inet\n" + old:                                                         "eth0 02:00:00:00:00:01 1500 true []   0",
		"eth0 Link encap:Ethernet\n inet addr:192.0.2.300\n":                                             "eth0  0 true []   1",
		"eth0 Link encap:Ethernet\n inet addr:192.0.2.3 Mask:255.0.255.0\n":                              "eth0  0 true []   1",
		"en0: flags=8863<UP> mtu 99999999\n\tinet 192.0.2.1 netmask 0xffff00ff\n":                        "en0  0 true []   1",
		"e;x: flags=8863<UP> mtu 1500\n":                                                                 " 1",
		"em0: flags=8863<UP,RUNNING> mtu 1500\n\tmedia: Ethernet autoselect (none)\n":                    "em0  1500 true []   0",
		"em0: flags=8863<UP> mtu 1500\n\tmedia: Ethernet 1000baseT <full-duplex>\n":                      "em0  1500 true []  ; em0 true 1000 full false 0",
		"em0: flags=8863<UP> mtu 1500\n\tmedia: Ethernet 25GBase-CR <full-duplex>\n":                     "em0  1500 true []  ; em0 true 25000 full ? 0",
		"em0: flags=8863<UP> mtu 1500\n\tmedia: autoselect (2.5GBase-T)\n\tstatus: down\n":               "em0  1500 true []  ; em0 true 2500  true 0",
		"$ ifconfig em0\nem0: flags=8863<UP> mtu 1500\n\tunheard-of: 7\n":                                "em0  1500 true []   1",
		// Sums do not replace the counters of ip -s link, which replace them.
		"a# ip -s link\n2: eth0: <UP> mtu 1500\n    RX: bytes packets errors dropped missed mcast\n 1 2 3 4 5 6\na# " +
			"ifconfig\n" + old +
			counted: "eth0 02:00:00:00:00:01 1500 true []  ; eth0: 2 3 4 5, 0 0 0 0 0 0",
		"a# ifconfig\n" + old + counted + "a# ip -s link\n2: eth0: <UP> mtu 1500\n    RX: bytes packets errors " +
			"dropped missed mcast\n" +
			" 1 2 3 4 5 6\n": "eth0 02:00:00:00:00:01 1500 true []  ; eth0: 2 3 4 5, 0 0 0 0 0 0",
		// Of dropped packets, a driver says for which it had no buffer.
		"a# ifconfig\n" + old + counted + "a# ethtool -S eth0\nNIC statistics:\n     rx_missed_errors: 7\n     " +
			"rx_crc_errors: 2\n": "eth0 " +
			"02:00:00:00:00:01 1500 true []  ; eth0: 10 3 2 7, 0 0 0 0 0; eth0 true 0  ? 0",
		// An interface without a carrier, as flags say it.
		"2: eth0: <NO-CARRIER,UP> mtu 1500\n": "eth0  1500 true []  ; eth0 false 0  ? 0",
		"2: eth0: <NO-CARRIER> mtu 1500\n":    "eth0  1500 false []   0",
		"$ ethtool eth0\nSettings for eth0:\n\tLink detected: yes\n$ ip link\n2: eth0: <NO-CARRIER,UP> mtu 1500\n": "eth0  1500 true []  ; eth0 true 0  ? 0",
		// A name that is cut is not used; one that is down has a star.
		"Name  Mtu   Network       Address            Ipkts Ierrs    Opkts Oerrs  Coll\n" +
			"bridg 1500  <Link#17>   02:00:fd:08:57:01        0     0        0     0     0\n" +
			"en1*  1500  <Link#13>   02:00:fd:08:57:02        5     0        6     0     0\n": "en1 02:00:fd:08:57:02 " +
			"1500 false []  ; " +
			"en1: 5 0 0 0, 6 0 0 0 0 0",
		"Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll\n" +
			"ix0    1500 <Link#1>      02:a0:57:72:b3:8d 1 2\n": " 1",
		"$ netstat -i\nIface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\neth0 1500 1 2 " +
			"3\n": " 1",
		"Inter-|   Receive  |  Transmit\n face |bytes    packets errs drop fifo frame\n  eth0: 1 2 3 4 5\n": " 1",
		// The same device in several tools, and the members of a bridge that are not in the text.
		"$ brctl show\nbridge name\tbridge id\t\tSTP enabled\tinterfaces\nbr0\t\t8000.0200478aa2e8\tno\t\tem1\n": "br0  0 true [] bridge  0",
		"$ mii-tool\neth0: 1000 Mbit, half duplex, link ok\neth0; negotiated\n":                                  "eth0  0 true []  ; eth0 true 1000 half false 1",
		"$ ip -br a\neth0 UP 192.0.2.1/33\neth1 SIDEWAYS\n":                                                      "eth0  0 true []   1",
	} {
		p, _ := Parse(text)
		if got := fmt.Sprint(hosts(p), " ", p.Lost); got != want {
			t.Errorf("%q: not read %q\n%q, want\n%q", text, p.NotUnderstood, got, want)
		}
	}
}

// TestRouteForms: routes of route, netstat -r and /proc that the samples do not have.
func TestRouteForms(t *testing.T) {
	const head = "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
	const row = "0.0.0.0         192.0.2.1       0.0.0.0         UG    100    0        0 eth0\n"
	for text, want := range map[string]string{
		head + row: "default via 192.0.2.1 dev eth0 metric 100 0",
		// Without the head the metric of netstat -rn could be an MSS.
		"$ netstat -rn | grep UG\n" + row:    "default via 192.0.2.1 dev eth0 0",
		"$ route -n | grep ^0.0.0.0\n" + row: "default via 192.0.2.1 dev eth0 metric 100 0",
		row:                                  "default via 192.0.2.1 dev eth0 metric 100 0",
		head + row + "\n" + head + "0.0.0.0 192.0.2.9 0.0.0.0 UG 100 0 0 eth0\n":                      "default via 192.0.2.1 dev eth0 metric 100; default via 192.0.2.9 dev eth0 metric 100 0",
		head + row + "\n0.0.0.0 192.0.2.9 0.0.0.0 UG 100 0 0 eth0\n":                                  "default via 192.0.2.1 dev eth0 metric 100 | default via 192.0.2.9 dev eth0 metric 100 0",
		head + row + "\ndefault via 192.0.2.1 dev eth0 proto dhcp metric 100\n":                       "default via 192.0.2.1 dev eth0 proto dhcp metric 100 0",
		"$ ip route\ndefault via 192.0.2.1 dev eth0 proto dhcp metric 100\n$ route -n\n" + head + row: "default via 192.0.2.1 dev eth0 proto dhcp metric 100 0",
		head + row + "192.0.2.0 0.0.0.0 255.0.255.0 U 0 0 0 eth0\n":                                   "default via 192.0.2.1 dev eth0 metric 100;  omitted 1 0",
		head + row + "server 0.0.0.0 255.255.255.255 UH 0 0 0 eth0\n":                                 "default via 192.0.2.1 dev eth0 metric 100;  omitted 1 0",
		head + "192.0.2.0 0.0.0.0 255.255.255.0 X 0 0 0 eth0\n":                                       " 1",
		"Routing tables\n\nInternet:\nDestination Gateway Flags Netif Expire\n10.1/16 192.0.2.1 UGS em0\n10 " +
			"192.0.2.2 " +
			"UGS em0\n": "10.1.0.0/16 via 192.0.2.1 dev em0; 10.0.0.0/8 via 192.0.2.2 dev em0 0",
		"Routing tables\n\nInternet:\nDestination Gateway Flags Netif Expire\n10.1/99 192.0.2.1 UGS em0\nx y\n10/8 " +
			"192.0.2.1 UGS em0\n": "10.0.0.0/8 via 192.0.2.1 dev em0;  omitted 1 1",
		"Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\neth0\t0002\n": " 1",
	} {
		p, _ := Parse(text)
		var machines []string
		for _, m := range p.Machines {
			var list []string
			for _, r := range m.Reading.Snapshot.Routes {
				list = append(list, r.Text)
			}
			if n := m.Reading.Snapshot.RoutesOmitted; n > 0 {
				list = append(list, fmt.Sprint(" omitted ", n))
			}
			machines = append(machines, strings.Join(list, "; "))
		}
		if got := fmt.Sprint(strings.Join(machines, " | "), " ", p.Lost); got != want {
			t.Errorf("%q: not read %q\n%q, want\n%q", text, p.NotUnderstood, got, want)
		}
	}
}

// TestSocketForms: sockets of netstat and /proc that the samples do not have.
func TestSocketForms(t *testing.T) {
	for text, want := range map[string]string{
		"$ netstat -tn | grep EST\ntcp 0 0 192.0.2.1:22 192.0.2.2:5 ESTABLISHED\n":                            "map[ESTAB:1] [] 0",
		"$ netstat -an\ntcp 0 0 192.0.2.1:22 192.0.2.2:5 DANCING\n":                                           "map[] [] 0",
		"$ netstat -an\ntcp 0 192.0.2.1:22 192.0.2.2:5 ESTABLISHED\n":                                         "map[] [] 1",
		"$ netstat -an\ntcp4 0 0 *.22 *.* 0 0 0 0 0 65536\n":                                                  "map[] [] 0", // -x has no states
		"$ netstat -an\nudp6 0 0 :::53 :::*\n":                                                                "map[] [udp [::]:53 0 0 false] 0",
		"$ ss -ltn\nLISTEN 0 128 0.0.0.0:80 0.0.0.0:*\n$ netstat -ltn\ntcp 5 0 0.0.0.0:80 0.0.0.0:* LISTEN\n": "map[] [tcp 0.0.0.0:80 5 128 false] 0",
		"$ netstat -ltn\ntcp 5 0 0.0.0.0:80 0.0.0.0:* LISTEN\n":                                               "map[] [tcp 0.0.0.0:80 5 0 true] 0",
		"$ cat /proc/net/tcp\n   0: 0100007F:0016 00000000:0000 FF 00000000:00000000 00:00000000 00000000     0      " +
			" " +
			" 0 1 1 f 100\n": "map[] [] 1",
		"$ cat /proc/net/udp\n  53: 00000000:0035 00000000:0000 07 00000000:00000009 00:00000000 00000000     0      " +
			" " +
			" 0 1 2 f\n": "map[] [udp 0.0.0.0:53 9 0 false] 0",
	} {
		p, _ := Parse(text)
		states, listeners := map[string]int{}, []string{}
		for _, m := range p.Machines {
			for state, n := range m.State.TCP {
				states[state] = n
			}
			for _, l := range m.State.Listeners {
				listeners = append(listeners, fmt.Sprint(l.Protocol, " ", l.Local, " ", l.Queued, " ", l.Backlog, " ",
					l.BacklogUnknown))
			}
		}
		if got := fmt.Sprint(states, " ", listeners, " ", p.Lost); got != want {
			t.Errorf("%q: not read %q\n%q, want\n%q", text, p.NotUnderstood, got, want)
		}
	}
}

// TestSentences: counters of netstat -s, of which grep left sentences without their sections, and those
// of a BSD, which are no counters of Linux unless they have their meaning.
func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"$ netstat -s | grep -i listen\n    5 times the listen queue of a socket overflowed\n    6 SYNs to LISTEN " +
			"sockets dropped\n": "map[TcpExt.ListenDrops:6 TcpExt.ListenOverflows:5] 0",
		"$ netstat -s | grep retrans\n    7 segments retransmited\n    TCPLostRetransmit: 8\n":                      "map[Tcp.RetransSegs:7 TcpExt.TCPLostRetransmit:8] 0",
		"$ netstat -s | grep packets\n    7 packets received\n":                                                     "map[] 1", // of UDP, or of UDP-Lite
		"    5 times the listen queue of a socket overflowed\n":                                                     "map[TcpExt.ListenOverflows:5] 0",
		"$ netstat -s\nTcpExt:\n    3 unheard-of things\n    4 other TCP timeouts\n":                                "map[TcpExt.TCPTimeouts:4] 1",
		"$ netstat -s\ntcp:\n\t4 other TCP timeouts\n\t3 retransmit timeouts\n\t1 packet sent\n":                    "map[Tcp.OutSegs:1] 0",
		"$ netstat -s\nicmp:\n\t\tdestination unreachable: 9\n\tInput histogram:\n\t\tdestination unreachable: 4\n": "map[Icmp.InDestUnreachs:4] 0",
		"Udp: InDatagrams NoPorts InErrors\nUdp: 1 2\n":                                                             "map[] 1",
		"Udp: InDatagrams NoPorts InErrors\nTcp: 1 2 3\n":                                                           "map[] 1",
		"Udp: InDatagrams NoPorts InErrors\nUdp: 1 2 3\n\nUdp: InDatagrams NoPorts InErrors\nUdp: 4 5 6\n":          "map[Udp.InDatagrams:1 Udp.InErrors:3 Udp.NoPorts:2] map[Udp.InDatagrams:4 Udp.InErrors:6 Udp.NoPorts:5] 0",
	} {
		p, _ := Parse(text)
		got := ""
		for _, m := range p.Machines {
			got += fmt.Sprint(m.Reading.End.SNMP, " ")
		}
		if len(p.Machines) == 0 {
			got = "map[] "
		}
		if got += fmt.Sprint(p.Lost); got != want {
			t.Errorf("%q: not read %q\n%q, want\n%q", text, p.NotUnderstood, got, want)
		}
	}
}

// TestJSON: the JSON of ip is read whatever its length, ends where it ends, and is lost if it is cut.
func TestJSON(t *testing.T) {
	const one = `[{"ifindex":2,"ifname":"eth0","flags":["UP"],"mtu":1500,"addr_info":[{"local":"192.0.2.1","prefixlen":24}]}]` + "\n"
	var long strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&long, `,{"ifindex":%d,"ifname":"dummy%[1]d","flags":[],"mtu":1500,"altnames":["a\"]}b"]}`, n+3)
	}
	for text, want := range map[string]string{
		one:                               "1 1500 [192.0.2.1/24] 0",
		one + "2: eth1: <UP> mtu 1400\n":  "2 1500 [192.0.2.1/24] 0",
		"$ ip -j a\n" + one + "\nhello\n": "1 1500 [192.0.2.1/24] 1",
		strings.TrimSuffix(one, "]\n") + long.String() + "]\n":                                                       "2001 1500 [192.0.2.1/24] 0",
		one[:60] + "\nnas:~$ ip link\n2: eth0: <UP> mtu 1400\n":                                                      "1 1400 [] 1",
		"$ ip -j -p a\n" + strings.ReplaceAll(one, ",", ",\n") + one:                                                 "1 1500 [192.0.2.1/24] 0",
		`[{},{},{"ifindex":2,"ifname":"eth0","flags":["UP"],"mtu":1500}]` + "\n":                                     "1 1500 [] 0",
		`[{"ifindex":2,"ifname":"e 0","flags":["UP"],"mtu":1500}]` + "\n" + one:                                      "1 1500 [192.0.2.1/24] 0",
		`[{"ifindex":2,"ifname":"eth0","flags":["UP"],"mtu":-5,"addr_info":[{"local":"x","prefixlen":999}]}]` + "\n": "1 0 [] 0",
	} {
		p, _ := Parse(text)
		got := "none"
		if len(p.Machines) > 0 {
			list := p.Machines[0].Reading.Snapshot.Interfaces
			got = fmt.Sprint(len(list), " ", list[0].MTU, " ", list[0].Addresses, " ", p.Lost)
		}
		if got != want {
			t.Errorf("%.80q: not read %q\n%q, want\n%q", text, p.NotUnderstood, got, want)
		}
	}
}
