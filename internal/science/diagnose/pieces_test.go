package diagnose

import "fmt"

// piecesOfTools are texts of TestPiecesOfTexts with what single tools print.
var piecesOfTools = map[string]pieceOfText{
	"a driver's counters behind date, twice": {"# date; ethtool -S eth0 | grep prio3; sleep 10; date; ethtool -S eth0 | grep " +
		"prio3\nTue Mar  3 11:00:00 UTC 2026\n     rx_prio3_pause: 1000\n     rx_discards_phy: 5\n     rx_out_of_buffer: 9\n     " +
		"rx_prio3_discards: 7\nTue Mar  3 11:00:10 UTC 2026\n     rx_prio3_pause: 901000\n     rx_discards_phy: 5\n     rx_out_of_buffer: 9\n" +
		"     rx_prio3_discards: 7\n", "paused", `"grew":900000`, "ring-empty"},
	"names that two drivers have": {"# ethtool -S eth0\n     rx_error_bytes: 0\n     tx_mac_errors: 0\n     " +
		"rx_align_errors: 0\n     rx_filtered_packets: 1\n     rx_discards: 0\n     rx_fw_discards: 881723\n",
		"ring-overrun", `"missed":881723`, "counters-unknown"},
	"overruns of sar": {"$ sar -n EDEV 1 1\n15:00:01        IFACE   rxerr/s   txerr/s    coll/s  rxdrop/s  txdrop/s  txcarr/s " +
		" rxfram/s  rxfifo/s  txfifo/s\n15:00:02         ens3      0.00      0.00      0.00      0.00      0.00      0.00      " +
		"0.00   9120.00      0.00\n", "ring-overrun", `"missed":9120`, ""},
	"a port that teamd left out": {"# teamdctl team0 state\nsetup:\n  runner: lacp\nports:\n  ens1f0\n    link watches:\n" +
		"      link summary: up\n    runner:\n      aggregator ID: 5, Selected\n  ens1f1\n    link watches:\n      link " +
		"summary: up\n    runner:\n      aggregator ID: 7\n", "lacp-apart", `"interface":"ens1f1","aggregator":7,"active":5`,
		"bond-member-down"},
	"duplicates of ping": {"$ ping -c 3 10.40.1.20\nPING 10.40.1.20 (10.40.1.20) 56(84) bytes of data.\n64 bytes from " +
		"10.40.1.20: icmp_seq=1 ttl=62 time=0.4 ms\n64 bytes from 10.40.1.20: icmp_seq=1 ttl=62 time=0.5 ms (DUP!)\n--- " +
		"10.40.1.20 ping statistics ---\n3 packets transmitted, 3 received, +3 duplicates, 0% packet loss, time 2ms\n",
		"probe-duplicated", `"duplicates":3`, "probe-lost"},
	"answers of a broadcast": {"$ ping -b -c 3 10.40.1.255\nPING 10.40.1.255 (10.40.1.255) 56(84) bytes of data.\n--- " +
		"10.40.1.255 ping statistics ---\n3 packets transmitted, 3 received, +9 duplicates, 0% packet loss, time 2ms\n", "",
		"", "probe-duplicated"},
	"a bond alone": {"# ip -s link show bond0\n4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue " +
		"state UP\n    link/ether 3c:fd:fe:aa:bb:cc brd ff:ff:ff:ff:ff:ff\n    RX: bytes packets errors dropped missed mcast\n" +
		"    91827364550000 918273645 0 0 8172635 0\n", "ring-overrun", `"missed":8172635`, ""},
	"drops of a queue in JSON": {`[{"kind":"pfifo_fast","handle":"8001:","dev":"eth0","root":true,"options":{"bands":3},` +
		`"bytes":9182,"packets":9182,"drops":726,"overlimits":0,"requeues":0,"backlog":0,"qlen":0}]`, "qdisc-drop",
		`"dropped":726`, ""},
	"pods with a larger MTU than their overlay": {overlay(1500), "mtu-above-uplink", `"interface":"cni0"`, ""},
	"pods with the MTU of their overlay":        {overlay(1450), "", "", "mtu-above-uplink"},
	"delayed interrupts of an interface that nothing else says is a NIC": {"# ethtool -c ens1f0\nCoalesce parameters for " +
		"ens1f0:\nAdaptive RX: off  TX: off\nrx-usecs:\t1000\nrx-frames:\tn/a\n", "interrupts-delayed", `"rx_us":1000`, ""},
	"a transmit fault of i40e": {"[1.0] i40e 0000:5e:00.0: TX driver issue detected, PF reset issued\n", "fault-logged",
		"driver issue", ""},
	"an overflow of an unknown driver": {"# ethtool -S eth0\nNIC statistics:\n     rx_packets: 18273\n     rx_64_oct: 1\n   " +
		"  rbuf_ovflow_cnt: 9182\n", "counters-unknown", "rbuf_ovflow_cnt", ""},
	"an arrow for a prompt, with the state of git": {"➜  ~ nstat -az TcpRetransSegs TcpOutSegs\nTcpOutSegs  1000000  0.0\n" +
		"TcpRetransSegs  90000  0.0\n➜  linux git:(main) ✗ ethtool eth0 | grep Duplex\n\tDuplex: Half\n", "half-duplex",
		`"interface":"eth0"`, ""},
	"a weak link of iwconfig": {"wlan0     IEEE 802.11  ESSID:\"home\"\n          Bit Rate=6.5 Mb/s   Tx-Power=31 dBm\n     " +
		"     Link Quality=22/70  Signal level=-88 dBm\n", "wireless-weak", `"signal_dbm":-88`, ""},
	"a CPU of top": {"%Cpu0  :  0.0 us,  0.3 sy,  0.0 ni,  0.0 id,  0.0 wa,  0.0 hi, 99.7 si,  0.0 st\n%Cpu1  :  3.0 us,  " +
		"1.3 sy,  0.0 ni, 95.0 id,  0.7 wa,  0.0 hi,  0.0 si,  0.0 st\n", "cpu-saturated", `"cpu":0`, ""},
	"time that vmstat says is stolen": {"$ vmstat 1 2\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id " +
		"wa st\n 9  0      0 182736  10240 918272    0    0     1     4  812 1022  0  0 100  0  0\n 8  0      0 182736  10240 " +
		"918272    0    0     0     0  912 1822 11 12  0  0 77\n", "cpu-stolen", `0.77`, ""},
	"an average since the boot of vmstat and a row of an idle machine": {"$ vmstat 1 2\n r  b   swpd   free   buff  cache   " +
		"si   so    bi    bo   in   cs us sy id wa st\n 9  0      0 182736  10240 918272    0    0     1     4  812 1022 50 50  " +
		"0  0  0\n 8  0      0 182736  10240 918272    0    0     0     0  912 1822  0  0 100  0  0\n", "", "",
		"cpu-saturated"},
}

// overlay is a node of a cluster of which the bridge of the pods has an MTU, and the VXLAN interface 1450.
func overlay(mtu int) string {
	return fmt.Sprintf("# ip -d link\n2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    link/ether "+
		"00:50:56:aa:bb:01 brd ff:ff:ff:ff:ff:ff\n4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue "+
		"state UNKNOWN\n    link/ether 5e:11:22:33:44:55 brd ff:ff:ff:ff:ff:ff\n    vxlan id 1 local 10.1.1.11 dev eth0 "+
		"srcport 0 0 dstport 8472\n5: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %[1]d qdisc noqueue state UP\n    "+
		"link/ether 8a:11:22:33:44:56 brd ff:ff:ff:ff:ff:ff\n    bridge forward_delay 1500\n6: veth1@if3: <BROADCAST,"+
		"MULTICAST,UP,LOWER_UP> mtu %[1]d qdisc noqueue master cni0 state UP\n    link/ether 9a:11:22:33:44:57 brd "+
		"ff:ff:ff:ff:ff:ff\n    veth\n    bridge_slave state forwarding\n# ip route\ndefault via 10.1.1.1 dev eth0\n"+
		"10.1.1.0/24 dev eth0 proto kernel scope link src 10.1.1.11\n10.244.1.0/24 dev cni0 proto kernel scope link src "+
		"10.244.1.1\n10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink\n", mtu)
}
