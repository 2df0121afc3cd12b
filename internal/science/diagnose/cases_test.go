package diagnose

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/pasted"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/diagnosetest"
)

// reported is what a reported text must lead to, and what must not be said of it.
type reported struct {
	file string
	// found are findings with a part of their facts in JSON, of which each must be there.
	found [][2]string
	// never are rules that must not find anything.
	never []string
	// evaluated are rules that must be evaluated, and unjudged those that must not be.
	evaluated, unjudged []string
}

var reportedCases = []reported{
	{file: "01-el6-be2net-ifconfig", found: [][2]string{{"offload-off", `"feature":"rx-gro"`}},
		never:    []string{"autoneg-off", "interface-errors", "frames-damaged", "link-down"},
		unjudged: []string{"ring-small", "one-queue", "tcp-retransmissions"}},
	{file: "01-el6-be2net-ifconfig-new-head", found: [][2]string{{"offload-off", `"feature":"rx-gro"`}},
		never: []string{"autoneg-off", "interface-errors"}},
	{file: "03-stmmac-retransmit", found: [][2]string{{"tcp-retransmissions", `"grew":5887`},
		{"echo-unreplied", `"grew":676`}},
		never: []string{"interface-errors", "frames-damaged", "half-duplex", "ring-overrun"}},
	{file: "04-udp-memerrors", found: [][2]string{{"udp-memory", `"grew":1945378`}, {"udp-no-listener", `287775`}},
		never: []string{"udp-buffer-overflow", "udp-buffer-default-small"}},
	{file: "05-be2net-counters", found: [][2]string{{"ring-overrun", `3885606854`}, {"frames-wrong-length", `1430`},
		{"nic-bad-checksums", `1167057456`}},
		never: []string{"frames-damaged"}},
	{file: "06-ena-allowance", found: [][2]string{{"cloud-allowance", `"grew":3241329`},
		{"cloud-allowance", `"driver_inferred":true`}}, never: []string{"transmit-timeout", "ring-empty",
		"ring-overrun"}},
	{file: "06-ena-allowance-with-driver", found: [][2]string{{"cloud-allowance", `"grew":3241329`}},
		never: []string{"transmit-timeout", "ring-empty", "ring-overrun"}},
	{file: "08-softnet-one-cpu", found: [][2]string{{"receive-on-one-cpu", `"squeezed":12580`}},
		never: []string{"softnet-drop", "netdev-backlog-small"}, evaluated: []string{"cpu-saturated"}},
	{file: "09-lacp-churned", found: [][2]string{{"lacp-apart",
		`"interface":"enp7s0","aggregator":1,"active":2,"ports":1,"members":2,"silent":true,"churned":true`}},
		never: []string{"mac-twice", "bond-hash"}, unjudged: []string{"address-twice", "half-duplex"}},
	{file: "10-docker-mtu", found: [][2]string{{"mtu-above-uplink", `"interface":"docker0"`}},
		never: []string{"bridge-mtu-mixed", "link-down"}},
	{file: "11-r8125-watchdog", found: [][2]string{{"fault-logged", `eth2 (r8125): transmit queue 0 timed out`}}},
	{file: "12-old-netstat-listen", found: [][2]string{{"listen-overflow", `5191585`}, {"tcp-retransmissions",
		`191055808`},
		{"time-wait-recycled", `36979534`}}},
	{file: "13-pcie-dmesg-lspci", found: [][2]string{{"fault-logged", `31.504 Gb/s available PCIe bandwidth`},
		{"pcie-narrow", `"width":4`}}},
	{file: "15-ipv6-pmtu-tracepath", found: [][2]string{{"mtu-blackhole", `"mtu":1492`}},
		never: []string{"peer-window-closed", "window-limited"}},
	{file: "16-openwrt-bdp-sysctl", found: [][2]string{{"receive-buffer-small", `3206752`},
		{"send-buffer-small", `3206752`}}, never: []string{"udp-buffer-default-small"},
		evaluated: []string{"window-scaling-off"}, unjudged: []string{"sack-off", "link-down"}},
	{file: "18-freebsd-state", found: [][2]string{{"half-duplex", `"interface":"ix0"`}, {"listen-overflow", `1204`}}},
	{file: "19-virtio-vm-offload", found: [][2]string{{"offloads-not-offered", `"driver":"virtio_net"`}},
		never: []string{"offload-off", "ring-overrun"}, evaluated: []string{"ring-overrun"}},
	{file: "20-same-subnet-synology", found: [][2]string{{"same-subnet-interfaces",
		`"interface":"eth0","all":0,"own":0,"unread":"own"`}, {"same-subnet-mtu", `9000`}},
		never: []string{"link-down", "usb2-adapter"}},
	{file: "22-udp-pps-old-tg3", found: [][2]string{{"udp-queue-full", `"local":"0.0.0.0:9002","bytes":213504`},
		{"ring-overrun", `8127364`}}},
	{file: "40-iperf3-lag", found: [][2]string{{"connection-losses", `"segments":2012`}},
		never: []string{"sender-ahead", "transfer-stalled", "datagrams-lost"}, unjudged: []string{"bond-hash"}},
	{file: "42-iperf3-wan-w25M", found: [][2]string{{"connection-stalled",
		`"waiting_bytes":34078720,"cwnd":24,"sent_ago_s":9.1`}, {"transfer-stalled", `"idle_intervals":3`}},
		never: []string{"send-buffer-limited", "window-limited"}},
	{file: "43-iperf3-40g-text", never: []string{"half-duplex", "tcp-retransmissions", "interface-errors",
		"connection-losses", "sender-ahead", "transfer-stalled"}, evaluated: []string{"connection-losses"}},
	{file: "53-ecmp-bgp-nhid", found: [][2]string{{"gateway-unresolved", `10.0.1.13`}}},
}

// TestReported: of the texts that people had, the cause is found with its evidence, and nothing that is not
// so.
func TestReported(t *testing.T) {
	for _, c := range reportedCases {
		text, err := os.ReadFile(filepath.Join("..", "..", "model", "pasted", "testdata", "cases", c.file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := pasted.Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		e := Hosts(p.Machines)
		for _, want := range c.found {
			if !slices.ContainsFunc(e.Findings, func(f record.Finding) bool {
				return f.ID == want[0] && strings.Contains(diagnosetest.Facts(f), want[1])
			}) {
				t.Errorf("%s: no %s with %s: %+v", c.file, want[0], want[1], e.Findings)
			}
		}
		for _, f := range e.Findings {
			if slices.Contains(c.never, f.ID) {
				t.Errorf("%s: %s: %s", c.file, f.ID, diagnosetest.Facts(f))
			}
		}
		for _, id := range c.evaluated {
			if !slices.Contains(e.Evaluated, id) {
				t.Errorf("%s: %s is not evaluated", c.file, id)
			}
		}
		for _, id := range c.unjudged {
			if slices.Contains(e.Evaluated, id) {
				t.Errorf("%s: %s is evaluated", c.file, id)
			}
		}
	}
}

// pieceOfText is a text, the rule that finds something in it with a part of its facts in JSON, and one that must not.
type pieceOfText struct {
	text, found, evidence string
	never                 string
}

// TestPiecesOfTexts: a finding goes by what the text has, however little that is, and a share of what it does not have
// is none.
func TestPiecesOfTexts(t *testing.T) {
	const interrupts = `           CPU0       CPU1
 45:   98123456          0   PCI-MSI 524288-edge      eth0-rx-0
 46:          0          0   PCI-MSI 524289-edge      eth0-rx-1
 47:     123456       TX   PCI-MSI 524290-edge      eth0-tx-0
`
	link := func(signal, rate, retries string) string {
		return "$ iw dev wlan0 station dump\nStation 12:34:56:78:9a:bc (on wlan0)\n\ttx packets:\t41200\n\ttx retries:\t" +
			retries + "\n\tsignal:\t" + signal + " dBm\n\ttx bitrate:\t" + rate + " MBit/s\n"
	}
	const filtered = "# nstat -az | grep -i rpf\nTcpExtIPReversePathFilter  81723  0.0\n"
	address := func(iface, last string) string {
		return "2: " + iface + ": <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    link/ether " +
			"52:54:00:12:34:" + last + " brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2." + last + "/24 scope global " + iface + "\n"
	}
	bonding := func(state string) string {
		return "# cat /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v5\n\nBonding Mode: fault-tolerance " +
			"(active-backup)\nCurrently Active Slave: eth1\nMII Status: up\n\nSlave Interface: eth0\nMII Status: " + state +
			"\nLink Failure Count: 41\n\nSlave Interface: eth1\nMII Status: up\nLink Failure Count: 0\n"
	}
	ping := func(size, sent, received int) string {
		return fmt.Sprintf("$ ping -M do -s %d -c %d 10.20.0.11\nPING 10.20.0.11 (10.20.0.11) %d(%d) bytes of data.\n\n--- "+
			"10.20.0.11 ping statistics ---\n%d packets transmitted, %d received, %d%% packet loss, time 2031ms\n", size,
			sent, size, size+28, sent, received, 100-100*received/sent)
	}
	iperf := func(bytes ...string) string {
		text := "[  3] local 10.0.0.1 port 41234 connected with 10.0.0.2 port 5001\n"
		for i, b := range bytes {
			text += fmt.Sprintf("[  3] %2d.0-%2d.0 sec  %s  0 bits/sec\n", i, i+1, b)
		}
		return text + fmt.Sprintf("[  3]  0.0-%2d.0 sec  224 %s  470 Mbits/sec\n", len(bytes),
			strings.Fields(bytes[0])[1])
	}
	pieces := map[string]pieceOfText{
		"retransmissions of an unknown number of segments": {"$ netstat -s | grep -i retrans\n    1182734 segments " +
			"retransmitted\n$ nstat -az TcpExtListenOverflows\nTcpExtListenOverflows  88  0.0\n", "listen-overflow", `88`,
			"tcp-retransmissions"},
		"retransmissions of a known number": {"$ netstat -s | grep -i segments\n    9182734 segments sent out\n    " +
			"1182734 segments retransmitted\n", "tcp-retransmissions", "1182734", ""},
		"datagrams, of which none had a listener": {"$ nstat -az UdpInDatagrams UdpNoPorts\nUdpInDatagrams  0  0.0\n" +
			"UdpNoPorts  200  0.0\n", "udp-no-listener", "200", ""},
		"interrupts of one CPU": {strings.ReplaceAll(interrupts, "TX", "0"), "one-cpu-for-interrupts",
			`"cpu":0,"count":98246912,"of":98246912`, ""},
		"interrupts of two CPUs": {strings.ReplaceAll(interrupts, "TX", "9000000") + link("-80", "6.5", "0"),
			"wireless-weak", `"signal_dbm":-80`, "one-cpu-for-interrupts"},
		"a weak wireless link": {link("-78", "13.0", "30110"), "wireless-weak", `"tx_retries":30110`, ""},
		"a strict filter of interfaces that are not there": {"# route -n\n0.0.0.0 10.1.0.1 0.0.0.0 UG 0 0 0 eth0\n# sysctl " +
			"-a\nnet.ipv4.conf.all.rp_filter = 0\nnet.ipv4.conf.eth0.rp_filter = 1\nnet.ipv4.conf.eth1.rp_filter = 0\n" +
			filtered, "strict-rp-filter", `"interface":"eth0"`, ""},
		"no strict filter of such interfaces": {"# sysctl -a\nnet.ipv4.conf.all.rp_filter = 0\n" +
			"net.ipv4.conf.eth0.rp_filter = 0\n" + filtered, "", "", "strict-rp-filter"},
		"a network namespace with the subnet of the host": {"root@nas:~# ip addr\n" + address("eth0", "10") +
			"root@nas:~# ip netns exec red ip addr\n" + address("p0", "11") +
			"root@nas:~# sysctl net.ipv4.conf.all.arp_ignore net.ipv4.conf.all.arp_announce\n" +
			"net.ipv4.conf.all.arp_ignore = 0\nnet.ipv4.conf.all.arp_announce = 0\n", "", "", "same-subnet-interfaces"},
		"a container with the network of the host": {"root@nas:~# ip addr\n" + address("eth0", "10") +
			"root@nas:~# docker exec proxy ip addr\n" + address("eth0", "10"), "", "", "address-twice"},
		"sockets of one state": {"# ss -tino state established\nRecv-Q Send-Q Local Address:Port Peer Address:Port\n" +
			"0 2896000 10.0.0.5:51236 10.0.0.9:445 timer:(persist,12sec,6)\n\t cubic wscale:7,7 rto:204 backoff:6 " +
			"rtt:0.3/0.02 mss:1448 cwnd:10 busy:91200ms rwnd_limited:90100ms(98.8%) unacked:1 snd_wnd:0\n",
			"peer-window-closed", `"local":"10.0.0.5:51236"`, ""},
		"a transfer that stands still for a time": {iperf("112 MBytes", "0.00 Bytes", "0.00 Bytes", "112 MBytes"),
			"transfer-stalled", `"idle_intervals":2,"intervals":4`, ""},
		"a transfer at a low rate": {iperf("128 KBytes", "0.00 Bytes", "0.00 Bytes", "128 KBytes"), "", "", "transfer-stalled"},
		"a shell that prints its commands": {"+ nstat -az TcpRetransSegs TcpOutSegs\nTcpOutSegs  1000000  0.0\n" +
			"TcpRetransSegs  1000  0.0\n+ sleep 10\n+ nstat -az TcpRetransSegs TcpOutSegs\nTcpOutSegs  1100000  0.0\n" +
			"TcpRetransSegs  9000  0.0\n", "tcp-retransmissions", `"grew":8000,"over_s":10`, ""},
		"mtr with networks and addresses": {"$ mtr -rwbzc 100 203.0.113.7\nHOST: desk   Loss%   Snt   Last   Avg  Best  Wrst " +
			"StDev\n  1. AS???    gw (192.168.178.1)   0.0%   100    0.4   0.5   0.3   1.2   0.1\n  2. AS64496  203.0.113.7 " +
			"  13.0%   100   25.0  26.1  23.2  66.1   5.0\n", "probe-lost", `"received":87`, ""},
		"a link that is downshifted": {"[   12.0] r8169 0000:03:00.0 enp3s0: Link is Up - 100Mbps/Full (downshifted) - flow " +
			"control rx/tx\n", "fault-logged", "downshift", ""},
		"overruns of an old ip": {"# ip -s link show eth1\n3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state " +
			"UP qlen 1000\n    link/ether 00:26:b9:11:22:33 brd ff:ff:ff:ff:ff:ff\n    RX: bytes  packets  errors  dropped " +
			"overrun mcast\n    3746582910 48273645 0       0       91823   12\n", "ring-overrun", `"missed":91823`, ""},
		"overruns of ifconfig": {"# ifconfig eth1\neth1: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        " +
			"RX packets 48273645  bytes 3746582910 (3.4 GiB)\n        RX errors 0  dropped 0  overruns 91823  frame 0\n",
			"ring-overrun", `"missed":91823`, ""},
		"no overruns": {"# ifconfig eth1\neth1: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        RX packets 8  " +
			"bytes 9 (9 B)\n        RX errors 0  dropped 0  overruns 0  frame 0\n", "", "", "ring-overrun"},
		"jumbo frames that vanish": {ping(8972, 3, 0) + ping(1472, 3, 3), "mtu-blackhole", `"mtu":1500,"below":9000`, ""},
		"large frames that vanish": {ping(1472, 3, 0) + ping(56, 3, 3), "mtu-blackhole", `"mtu":84,"below":1500`, ""},
		"jumbo frames that pass":   {ping(8972, 3, 3) + ping(1472, 3, 0), "", "", "mtu-blackhole"},
		"what Windows has for broadcasts": {"PS C:\\> arp -a\n\nInterface: 192.168.1.10 --- 0x5\n  Internet Address      " +
			"Physical Address      Type\n  192.168.1.1           00-11-22-33-44-55     dynamic\n  192.168.1.255         " +
			"ff-ff-ff-ff-ff-ff     static\n  224.0.0.22            01-00-5e-00-00-16     static\n", "", "",
			"static-neighbour"},
		"fifo of /proc/net/dev": {"$ cat /proc/net/dev\nInter-|   Receive  |  Transmit\n face |bytes    packets errs drop fifo " +
			"frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n  eth0: 1000 1000 0 0 5100 0 " +
			"0 0 1000 1000 0 0 0 0 0 0\n", "ring-overrun", `"missed":5100`, ""},
		"RX-OVR of netstat": {"$ netstat -i\nKernel Interface table\nIface       MTU Met    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK " +
			"TX-ERR TX-DRP TX-OVR Flg\neth0       1500   0 48273645      0      0  91823 37264512      0      0      0 BMRU\n",
			"ring-overrun", `"missed":91823`, ""},
		"several commands on a line": {"root@h:~# ip -br addr | head; ping -c 5 10.0.0.1 2>&1 && ip route\neth0 UP 10.0.0.2/24\nPING " +
			"10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n--- 10.0.0.1 ping statistics ---\n5 packets transmitted, 2 received, " +
			"60% packet loss, time 4ms\nblackhole 10.1.0.0/16\n", "probe-lost", `"received":2`, ""},
		"a queue that is sent again, without the state of TCP": {"# ss -tno\nState Recv-Q Send-Q Local Address:Port Peer " +
			"Address:Port Process\nESTAB 0 812736 10.0.0.5:901 10.0.0.9:2049 timer:(on,3.2sec,5)\n", "unacknowledged",
			`"timeouts":5`, ""},
		"a block of code that ends with a line": {"```ethtool eth0\nSettings for eth0:\n\tSpeed: 100Mb/s\n\tDuplex: Half```\n",
			"half-duplex", `"duplex":"half"`, ""},
		"a bond without one of its members": {bonding("down"), "bond-member-down", `"interface":"eth0","members":2,"failures":41`,
			""},
		"a bond with both":     {bonding("up"), "", "", "bond-member-down"},
		"a good wireless link": {link("-48", "866.7", "900"), "", "", "wireless-weak"},
	}
	maps.Copy(pieces, piecesOfTools)
	for name, c := range pieces {
		p, err := pasted.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e := Hosts(p.Machines)
		has := func(id, evidence string) bool {
			return slices.ContainsFunc(e.Findings, func(f record.Finding) bool {
				return f.ID == id && strings.Contains(diagnosetest.Facts(f), evidence)
			})
		}
		unjudged := c.never != "tcp-retransmissions" || !slices.Contains(e.Evaluated, c.never)
		if c.found != "" && !has(c.found, c.evidence) || c.never != "" && has(c.never, "") || !unjudged {
			t.Errorf("%s: %+v", name, e.Findings)
		}
	}
}
