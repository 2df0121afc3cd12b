package pasted

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

func parse(t *testing.T, text string) Text {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rows(s netstate.HostSnapshot) (list []string) {
	for _, n := range s.Reading.Snapshot.Neighbours {
		list = append(list, strings.TrimSpace(fmt.Sprint(n.Address, " ", n.MAC, " ", n.Interface, " ", n.State)))
	}
	for _, e := range s.Reading.Snapshot.FDB {
		list = append(list, fmt.Sprint(e.MAC, " ", e.Interface, " ", e.Local))
	}
	return list
}

// forms of one entry, and how it is read.
var entries = map[string]string{
	"192.0.2.15   ether   00:08:9b:c8:c4:31   C    eth1": "192.0.2.15 00:08:9b:c8:c4:31 eth1 STALE",
	"192.0.2.15   ether   00:08:9b:c8:c4:31   CM   eth1": "192.0.2.15 00:08:9b:c8:c4:31 eth1 PERMANENT",
	"192.0.2.15           (incomplete)             eth1": "192.0.2.15  " +
		"eth1 INCOMPLETE",
	"? (192.0.2.15) at 00:08:9b:c8:c4:31 [ether] on eth1": "192.0.2.15 00:08:9b:c8:c4:31 " +
		"eth1 STALE",
	"nas (192.0.2.15) at 0:8:9b:c8:c4:31 on em0 expires in 1200 seconds [ethernet]": "192.0.2.15 00:08:9b:c8:c4:31 " +
		"em0 STALE",
	"? (192.0.2.15) at <incomplete> on eth1": "192.0.2.15  " +
		"eth1 INCOMPLETE",
	"192.0.2.15 dev eth1 lladdr 00:08:9b:c8:c4:31 REACHABLE": "192.0.2.15 00:08:9b:c8:c4:31 eth1 REACHABLE",
	"192.0.2.15 dev eth1  FAILED": "192.0.2.15  " +
		"eth1 FAILED",
	"fe80::1 dev eth1 lladdr 00:08:9b:c8:c4:31 router STALE":                                        "fe80::1 00:08:9b:c8:c4:31 eth1 STALE",
	"Internet  192.0.2.15   4   0008.9bc8.c431  ARPA   Vlan101":                                     "192.0.2.15 00:08:9b:c8:c4:31 Vlan101 STALE",
	"  192.0.2.15           00-08-9b-c8-c4-31     dynamic":                                          "192.0.2.15 00:08:9b:c8:c4:31  STALE",
	"sw1#show mac address-table\n 101    0008.9bc8.c431    DYNAMIC     Gi1/0/7":                     "00:08:9b:c8:c4:31 Gi1/0/7 false",
	"sw1#show mac address-table\n 101   00:08:9b:c8:c4:31   gi7   dynamic":                          "00:08:9b:c8:c4:31 gi7 false",
	"sw1#show mac address-table\n All    0100.0ccc.cccc    STATIC      CPU":                         "01:00:0c:cc:cc:cc CPU true",
	"00:08:9b:c8:c4:31 dev swp7 vlan 101 master br0":                                                "00:08:9b:c8:c4:31 swp7 false",
	"00:08:9b:c8:c4:31 dev eth0 self permanent":                                                     "00:08:9b:c8:c4:31 eth0 true",
	" MAC Address   Port  VLAN\n ------------- ----- ----\n 00089b-c8c431 7     101":                "00:08:9b:c8:c4:31 7 false",
	"MAC Address VLAN Port\n00:08:9b:c8:c4:31 101 7":                                                "00:08:9b:c8:c4:31 7 false",
	"VLAN | MAC Address | Port | Type\n-----+----+---+---\n101 | 00:08:9b:c8:c4:31 | 1/7 | learned": "00:08:9b:c8:c4:31 1/7 false",
	"sw1#show mac address-table\n00089bc8c431 7":                                                    "00:08:9b:c8:c4:31 7 false",
}

// TestForms: each form of a table is read as the same entry.
func TestForms(t *testing.T) {
	for text, want := range entries {
		p := parse(t, text)
		if got := rows(p.Machines[0]); len(p.Machines) != 1 || !slices.Equal(got, []string{want}) || p.Lost > 0 {
			t.Errorf("%q: %q of %d machines, %q not understood; want %q", text, got, len(p.Machines),
				p.NotUnderstood, want)
		}
	}
}

// TestColours: what ip -c prints, as script(1) keeps it with the shell's prompt, is read as without
// the sequences for the terminal.
func TestColours(t *testing.T) {
	const text = "\x1b]0;me@nas: ~\x07\x1b[?2004h\x1b[01;32mme@nas\x1b[00m:\x1b[01;34m~\x1b[00m$ ip -c " +
		"address\r\n\x1b[?2004l\r" +
		"2: \x1b[36meth0: \x1b[0m<BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state \x1b[32mUP \x1b[0mgroup default\r\n" +
		"    link/ether \x1b[33m00:08:9b:c8:c4:31\x1b[0m brd \x1b[33mff:ff:ff:ff:ff:ff\x1b[0m\x1b(B\x1b[m\r\n" +
		"    inet \x1b[35m192.0.2.15\x1b[0m/24 brd \x1b[35m192.0.2.255 \x1b[0mscope global eth0\r\n"
	p := parse(t, text)
	if len(p.Machines) != 1 || p.Lost > 0 || p.Machines[0].Reading.Host != "nas" {
		t.Fatalf("%+v", p)
	}
	list := p.Machines[0].Reading.Snapshot.Interfaces
	if len(list) != 1 || list[0].Interface != "eth0" || list[0].MAC != "00:08:9b:c8:c4:31" ||
		!slices.Equal(list[0].Addresses, []string{"192.0.2.15/24"}) {
		t.Errorf("%+v", list)
	}
}

// TestMachines: prompts, titles, heads and empty lines tell machines apart, and what is of one
// is together.
func TestMachines(t *testing.T) {
	const a, b, port = "192.0.2.15 dev eth0 lladdr 00:08:9b:c8:c4:31 REACHABLE\n",
		"192.0.2.16 dev eth0 lladdr 00:08:9b:c8:c4:32 REACHABLE\n", "00:08:9b:c8:c4:31 gi7\n00:08:9b:c8:c4:32 gi8\n"
	const head, row = "Address HWtype HWaddress Flags Mask Iface\n", "192.0.2.15 ether 00:08:9b:c8:c4:31 C eth0\n"
	const link = "2: eth0: <UP> mtu 1500 state UP\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
	for text, want := range map[string]string{
		a + b:                        "host1:2",
		a + "\n" + b:                 "host1:1 host2:1",
		a + "\n" + b + "\n\n" + port: "host1:1 host2:1 switch1:2",
		a + port + b:                 "host1:1 switch1:2 host2:1",
		port + "\n" + port:           "switch1:4",
		head + row + head + row:      "host1:1 host2:1",
		"brik1:~# ip neigh\n" + a + "root@brik2:/etc$ ip neigh\n" + b + "sg300#show mac address-table\n" +
			port: "brik1:1 brik2:1 sg300:2",
		"[me@brik1 ~]$ ip neigh\n" + a + "\n" + b:                        "brik1:2",
		"brik1> arp\n" + a + "brik2> arp\n" + b + "brik1>\n" + b:         "brik1:2 brik2:1",
		"brik1:\n" + a + "\nbrik2:\n" + b:                                "brik1:1 brik2:1",
		"$ ip link\n" + link + "$ ip neigh\n" + a + "$ ip link\n" + link: "host1:1 host2:0",
	} {
		var got []string
		p := parse(t, text)
		for _, m := range p.Machines {
			got = append(got, fmt.Sprint(m.Reading.Host, ":", len(rows(m))))
		}
		if strings.Join(got, " ") != want || p.Lost > 0 {
			t.Errorf("%q: %v, want %s (%q)", text, got, want, p.NotUnderstood)
		}
	}
}

// TestLinks: what ip prints of interfaces, and what of counters.
func TestLinks(t *testing.T) {
	p := parse(t, `nas:~# ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP group default qlen 1000
    link/ether 00:08:9b:c8:c4:31 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.15/24 brd 192.0.2.255 scope global eth0
       valid_lft forever preferred_lft forever
3: tun0: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UNKNOWN group default qlen 500
    link/none
    inet 10.8.0.2 peer 10.8.0.1/24 scope global tun0
       valid_lft forever preferred_lft forever
    inet6 fd00::2 peer fd00::1/64 scope global
       valid_lft forever preferred_lft forever
nas:~# ip -s link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    RX:  bytes packets errors dropped  missed   mcast
          7816      97      0       0       0       0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 00:08:9b:c8:c4:31 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
          7816      97      3       4       5       0
    RX errors:  length    crc   frame    fifo overrun
                     1      2       0       0       0
    TX:  bytes packets errors dropped carrier collsns
         13256     122      6       7       8       9
nas:~# nstat -az
#kernel
IpInReceives                    37             0.0
TcpRetransSegs                  12             0.0
TcpExtListenOverflows           3              0.0
nas:~# netstat -s
Ip:
    Forwarding: 2
    41 total packets received
    5 dropped because of missing route
IcmpMsg:
        InType3: 104
Udp:
    22 receive buffer errors
    InCsumErrors: 4
TcpExt:
    7 times the listen queue of a socket overflowed
    Quick ack mode was activated 41 times
`)
	if len(p.Machines) != 1 || p.Lost > 0 {
		t.Fatalf("%d machines, %q", len(p.Machines), p.NotUnderstood)
	}
	s := p.Machines[0].Reading
	want := `[{"interface":"eth0","index":2,"mac":"00:08:9b:c8:c4:31","mtu":9000,"up":true,"addresses":["192.0.2.15/24"],"master":"bond0"},` +
		`{"interface":"tun0","index":3,"mac":"","mtu":1500,"up":true,"addresses":["10.8.0.2/32","fd00::2/128"],"kind":"tun"}]`
	if got, _ := json.Marshal(s.Snapshot.Interfaces); string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := s.End.Interfaces; len(got) != 1 ||
		got[0] != (netstate.InterfaceCounters{Interface: "eth0", RxBytes: 7816, RxPackets: 97, RxErrors: 3,
			RxDropped: 4,
			RxMissed:  5, RxLength: 1, RxCRC: 2,
			TxBytes: 13256, TxPackets: 122, TxErrors: 6, TxDropped: 7, TxCarrier: 8, Collisions: 9}) {
		t.Errorf("%+v", got)
	}
	for name, n := range map[string]int64{"Ip.InReceives": 41, "Ip.OutNoRoutes": 5, "Tcp.RetransSegs": 12,
		"TcpExt.ListenOverflows": 7, "Udp.RcvbufErrors": 22, "Udp.InCsumErrors": 4, "IcmpMsg.InType3": 104} {
		if s.End.SNMP[name] != n {
			t.Errorf("%s is %d, want %d", name, s.End.SNMP[name], n)
		}
	}
	if got := strings.Join(p.Machines[0].Pasted, ", "); got != "interface counters, "+
		"interface counters/collisions, interface counters/rx_crc_errors, interface counters/rx_dropped, "+
		"interface counters/rx_errors, interface counters/rx_length_errors, interface counters/rx_missed_errors, "+
		"interface counters/tx_carrier_errors, interface counters/tx_dropped, interface counters/tx_errors, "+
		"interface flags, interfaces, snmp" {
		t.Error(got)
	}
}

// TestTunnelKinds: what ip prints of a tunnel is its kind, and of that what ip -d prints; an address
// that is masked makes none.
func TestTunnelKinds(t *testing.T) {
	for text, want := range map[string]string{
		"eth0: <UP> mtu 1500\n    link/ether xx:xx:xx:xx:xx:xx brd ff:ff:ff:ff:ff:ff": "",
		"ib0: <UP> mtu 2044\n    link/infiniband 80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57 " +
			"brd 00:ff": "",
		"wg0: <UP> mtu 1420\n    link/none":                                                                        "tun",
		"wg0: <UP> mtu 1420\n    link/none  promiscuity 0\n    wireguard addrgenmode none":                         "wireguard",
		"gre1@NONE: <UP> mtu 1476\n    link/gre 192.0.2.1 peer 192.0.2.2":                                          "gre",
		"six@eth0: <UP> mtu 1448\n    link/gre6 2001:db8::1 peer 2001:db8::2":                                      "ip6gre",
		"tunl0@NONE: <UP> mtu 1480\n    link/ipip 0.0.0.0 brd 0.0.0.0":                                             "ipip",
		"vti1@NONE: <UP> mtu 1480\n    link/ipip 192.0.2.1 peer 192.0.2.2 promiscuity 0\n    vti remote 192.0.2.2": "vti",
		"ipsec1@eth0: <UP> mtu 1500\n    link/none  promiscuity 0\n    xfrm if_id 0x2a":                            "xfrm",
		"pppoe-wan: <UP> mtu 1492\n    link/ppp":                                                                   "ppp",
	} {
		list := parse(t, "nas:~# ip link\n7: "+text+"\n").Machines[0].Reading.Snapshot.Interfaces
		if len(list) != 1 || list[0].Kind != want {
			t.Errorf("%q: %+v, want %q", text, list, want)
		}
	}
	// Without -d ip does not know what it said before.
	p := parse(t,
		"nas:~# ip -d link\n7: wg0: <UP> mtu 1420\n    link/none\n    wireguard\nnas:~# ip address\n7: wg0: <UP> "+
			"mtu 1420\n    link/none\n")
	if list := p.Machines[0].Reading.Snapshot.Interfaces; len(list) != 1 || list[0].Kind != "wireguard" {
		t.Errorf("%+v", list)
	}
}

// TestStory: the tables of the first source: two clients and a switch.
func TestStory(t *testing.T) {
	text, err := os.ReadFile("testdata/nas.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, string(text))
	var got []string
	for _, m := range p.Machines {
		got = append(got, fmt.Sprint(m.Reading.Host, ":", len(rows(m)), " ", m.Pasted))
	}
	if want := "brik1:4 [neighbours] brik2:4 [neighbours] sg300:4 [forwarding table]"; strings.Join(got, " ") != want ||
		p.Lost > 0 {
		t.Errorf("%v %q, want %s", got, p.NotUnderstood, want)
	}
}

// TestNotUnderstood: other lines are listed with their numbers, bounded and without escapes.
func TestNotUnderstood(t *testing.T) {
	p := parse(t, "hello there\n192.0.2.15 dev eth0 lladdr 00:08:9b:c8:c4:31 STALE\n\x1b[31mred 7\n"+
		strings.Repeat("x y\n", 100)+strings.Repeat("z", 5000))
	if p.Lost != 103 || len(p.NotUnderstood) != mostLost || p.NotUnderstood[0] != "line 1: hello there" ||
		strings.Contains(p.NotUnderstood[1], "\x1b") {
		t.Errorf("%d %q", p.Lost, p.NotUnderstood)
	}
	for _, text := range []string{"", "hello\n", strings.Repeat("\n", LargestText+1),
		"Address HWtype HWaddress Flags Mask Iface\n"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%.20q is understood", text)
		}
	}
}

// TestProse: sentences that begin with the name of a program are no commands, whose output would be without meaning:
// they and those behind them are not read.
func TestProse(t *testing.T) {
	const known = "192.0.2.15 dev eth0 lladdr 00:08:9b:c8:c4:31 STALE\n\n"
	for _, line := range []string{"which interface drops what we send?", "time link was down: two hours",
		"who dev is and who ops is does not matter", "free list of buffers was empty then", "last state that we saw",
		"date link came up again", "service network list has it", "top show of the year",
		"about 80% which we did not send"} {
		p := parse(t, known+line+"\nand it did so again today\n")
		if p.Lost != 2 {
			t.Errorf("%q: %d lines of 2 are not read, formats %v", line, p.Lost, p.Formats)
		}
	}
	for _, line := range []string{"free -m", "nas% which ethtool", "$ which ethtool"} {
		if p := parse(t, known+line+"\nand it did so again today\n"); p.Lost != 0 {
			t.Errorf("behind %q: %d lines are not read", line, p.Lost)
		}
	}
}

// FuzzParse: any text is read within its bounds, and makes documents of snapshots.
func FuzzParse(f *testing.F) {
	for text := range entries { // short ones, which the fuzzer makes shorter in little time
		f.Add(text)
	}
	f.Add(
		"a:~# ip addr\n2: eth0: <UP> mtu 9000 qdisc mq\n link/ether 02:00:00:00:00:01\n inet 192.0.2.1/24\n RX: " +
			"bytes packets\n 1 2\n")
	f.Add("nstat\n#kernel\nTcpRetransSegs 12 0.0\nIp:\n 4 total packets received\nUdp:\n InCsumErrors: 4\n")
	for _, text := range toolTexts {
		f.Add(text)
	}
	for _, test := range hardwareTexts {
		f.Add(test.text)
	}
	f.Add(
		socketHeads + "ESTAB 0 7 192.0.2.1:22 [fe80::2%eth0]:5000 timer:(on,1ms,2)\n\tts cubic rto:204 rtt:1.5/1 " +
			"mss:9 busy:4ms(1%)\nUNCONN 1 0 *:53 *:*\n skmem:(r0,d5)\nTCP: 3 (estab 1, closed 2, orphaned 1, " +
			"timewait 2)\n")
	f.Add(
		"a# ip route\ndefault proto static\n\tnexthop via 192.0.2.1 dev eth0 weight 1\nblackhole 10.0.0.0/8 table " +
			"x\n10.0.0.1 dev eth0 uid 0\n5:\tnot from all to ::/0 lookup x\n")
	f.Add(
		"net.core.somaxconn = 4096\n0000000a 00000002 00000003 00000000 00000000 00000000 00000000 00000000 " +
			"00000000\nqdisc fq 8001: root refcnt 2\n Sent 1 bytes 2 pkt (dropped 3, overlimits 4 requeues 5)\n " +
			"backlog 9Gb 1p\n[    1.5] eth0: link is up\n")
	f.Add("Nov 29 10:00:00 a kernel: [ 1.5] eth0: link down\n<4>1 - b kernel - - - eth0: hw csum failure\n" +
		"$ journalctl -o json\n{\"_TRANSPORT\":\"kernel\",\"MESSAGE\":[101,116]}\n$ dmesg\nigb1: Watchdog timeout\n")
	f.Add("$ ping -M do x\nPING x (192.0.2.1) 9(37) bytes of data.\n17 bytes from x: icmp_seq=1 time=1 ms\n--- x " +
		"ping " +
		"statistics ---\n2 packets transmitted, 1 received\nrtt min/avg/max = 1/2/3 ms\n 1?: [LOCALHOST] pmtu 1500\n")
	f.Add("Chain INPUT (policy DROP 1 packets, 2K bytes)\n pkts bytes target prot opt in out source destination\n1 2 " +
		"DROP " +
		"tcp -- * * 0.0.0.0/0 0.0.0.0/0\n*filter\n:INPUT DROP [1:2]\n[1:2] -A INPUT -j DROP\n")
	f.Add("table ip t {\nset s {\nsize 2\nelements = { a,\nb }\n}\nchain c {\ntype filter hook input priority 0; " +
		"policy " +
		"drop;\ncounter packets 1 bytes 2 drop # handle 3\n}\n}\n$ nft " +
		"-j\n{\"nftables\":[{\"rule\":{\"expr\":[{\"match\":{}}]}}]}\n")
	f.Add("$ cat /etc/sysctl.conf\nnet.ipv4.a = 1\n/proc/sys/net/core/a:1\nkern.a: 1\nMem: 1 2 3 4 5 6\nLinux a 6.1 " +
		"#1 x86_64\n" +
		"Interface: e, via: LLDP\n    VLAN: 1, pvid: yes\n{\n\"lldp\": {}\n}\n")
	f.Add("eth0 Link encap:Ethernet HWaddr 02:00:00:00:00:01\n inet addr:192.0.2.1 Bcast:1 Mask:255.255.255.0\n UP " +
		"MASTER " +
		"MTU:1500 Metric:1\n RX packets:1 errors:2 dropped:3 overruns:4 frame:5\n collisions:0 txqueuelen:9\n")
	f.Add("ix0: flags=8863<UP> metric 0 mtu 1500\n\tether 02:00:00:00:00:01\n\tinet6 fe80::1%ix0 prefixlen " +
		"64\n\tmedia: " +
		"Ethernet autoselect (1000baseT <half-duplex>)\n\tlaggport: em0 flags=1<ACTIVE>\n\tvlan: 5 parent interface: " +
		"em0\n")
	f.Add("Name Mtu Network Address Ipkts Ierrs Opkts Oerrs Coll\nix0 1500 <Link#1> 02:00:00:00:00:01 1 2 3 4 5\nix0 " +
		"- " +
		"192.0.2.0/24 192.0.2.1 1 - 2 - -\nIface MTU RX-OK RX-ERR RX-DRP RX-OVR TX-OK TX-ERR TX-DRP TX-OVR Flg\neth0 " +
		"1500 1 2 3 " +
		"4 5 6 7 8 BMRU\n")
	f.Add("Kernel IP routing table\nDestination Gateway Genmask Flags Metric Ref Use Iface\n10.0.0.0 - 255.0.0.0 ! 0 " +
		"- 0 -\n" +
		"Routing tables\n\nInternet6:\nDestination Gateway Flags Netif Expire\ndefault fe80::1%em0 UGS em0\n")
	f.Add("tcp6 0 9 :::22 2001:db8::1:5 ESTABLISHED 0 1 7/sshd on (0.21/3/0)\ntcp4 0 9 192.0.2.1.22 *.* LISTEN\n   " +
		"0: " +
		"0100007F:0016 00000000:0000 01 00000000:00000001 04:00000000 00000003 0 6 1 1 f 1 1 1 1\n")
	f.Add(`[{"ifindex":2,"ifname":"eth0","flags":["UP"],"addr_info":[{"local":"192.0.2.1","prefixlen":24}],"linkinfo":{` +
		`"info_kind":"vlan","info_data":{"id":5}},"stats64":{"rx":{"bytes":1}}}]` + "\n" + `[{"dst":"default","gateway":` +
		`"192.0.2.1","dev":"eth0","nexthops":[{"dev":"a","weight":1}]}]` + "\n" + `[{"priority":1,"src":"all","iif":"x"}]`)
	f.Add("tcp:\n\t5 packets sent\n\t\t3 data packets (9 bytes) retransmitted\nUdp: A B C\nUdp: 1 2 3\nTCP: inuse 1 " +
		"orphan 2\n" +
		"GENERAL.DEVICE: eth0\nIP4.ADDRESS[1]: 192.0.2.1/24\n● 2: eth1\n  Speed: 1Gbps\nbr0 8000.020000000001 no " +
		"em1\n\tem2\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if len(p.Machines) > mostMachines || len(p.NotUnderstood) > mostLost {
			t.Fatal(len(p.Machines), len(p.NotUnderstood))
		}
		for _, m := range p.Machines {
			document, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := netstate.ParseHostSnapshot(document); err != nil {
				t.Fatalf("%v: %s", err, document)
			}
		}
	})
}
