package pasted

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
)

const bondText = bondBanner + "v6.1.0\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\n"

// hardwareTexts are texts of NICs, bonds, CPUs and buses, with the part of the snapshot that they
// become, as JSON, and the number of lines that are not read.
var hardwareTexts = []struct {
	name, text string
	part       func(netstate.HostSnapshot) any
	want       string
	lost       int
}{
	{"a member decides, behind the group", "$ ethtool -k eth0\nFeatures for eth0:\ntcp-segmentation-offload: off\n" +
		"\ttx-tcp-segmentation: off [fixed]\n\ttx-tcp6-segmentation: on\n", ofFeatures,
		`[{"tx-tcp6-segmentation":true},["tx-tcp-segmentation"]]`, 0},
	{"a fixed feature stays fixed", "Features for eth0:\ntx-tcp-segmentation: off [fixed]\n" +
		"tx-tcp-segmentation: on\nrx-gro: on\n",
		ofFeatures, `[{"rx-gro":true},["tx-tcp-segmentation"]]`, 0},
	{"a group alone says nothing", "$ ethtool -k eth0 | grep -E 'seg|gro'\ntcp-segmentation-offload: off\n" +
		"rx-gro-hw: off\n",
		ofFeatures, `[{"rx-gro-hw":false},null]`, 0},
	{"before members were printed", "Offload parameters for eth0:\ntcp-segmentation-offload: off\n" +
		"tx-checksumming: on\n",
		ofFeatures, `[{"tx-tcp-segmentation":false},null]`, 0},
	{"an error is no NIC", "Settings for eth9:\nNo data available\nSettings for eth1:\n\tSpeed: 100Mb/s\n", ofNICs,
		`[{"interface":"eth1","carrier":true,"carrier_changes":0,"tx_queue_len":0,"speed_mbps":100}]`, 0},
	{"unknown keys are not read", "Settings for eth1:\n\tSpeed: 100Mb/s\n\tFrobnication: on\n", ofNICs,
		`[{"interface":"eth1","carrier":true,"carrier_changes":0,"tx_queue_len":0,"speed_mbps":100}]`, 1},
	{"a table with missing rows is unknown", "$ ethtool -x eth0 | grep -v ' 0:'\n" +
		"RX flow hash indirection table for eth0 with 2 RX ring(s):\n    8:      1     1\n$ ethtool -l eth0\n" +
		"Combined:\t2\n",
		func(s netstate.HostSnapshot) any { return s.State.NICs[0].RSS }, `null`, 0},
	{"counters of a second reading replace the first", "nas# ethtool -S eth0\n  rx_missed: 5\n  align_errors: 1\n" +
		"  tx_aborted: 0\nnas# ethtool -S eth0\n  rx_missed: 7\n  rx_missed: 1\n", ofCounters, `{"rx_missed":8}`, 0},
	{"a bond needs its first line", "$ ethtool -i eth0\ndriver: igb\n\nSpeed: 1000 Mbps\nDuplex: full\n" +
		"MII Status: up\n",
		ofBonds, `null`, 3},
	{"a bond filtered", "$ grep -A2 Slave /proc/net/bonding/bond7\nSlave Interface: eth0\nMII Status: going down\n" +
		"Speed: Unknown\n--\n" +
		"Slave Interface: eth1\nMII Status: up\n", ofBonds, `[{"interface":"bond7","mode":"","miimon_ms":0,"slaves":[` +
		`{"interface":"eth0","state":"","link":"going down","link_failures":0},` +
		`{"interface":"eth1","state":"","link":"up","link_failures":0}]}]`, 1},
	{"a bond read again", "nas# cat /proc/net/bonding/bond1\n" + bondText + "MII Status: up\n" +
		"nas# cat /proc/net/bonding/bond1\n" +
		bondText + "MII Status: down\n", ofBonds, `[{"interface":"bond1","mode":"802.3ad","miimon_ms":0,` +
		`"link":"down"}]`, 0},
	{"a bond with unknown lines", bondText + "Frobnication: 7\nSlave Interface: eth0\nAggregator ID: N/A\n" +
		"Port state: 7\n",
		ofBonds, `[{"interface":"bond0","mode":"802.3ad","miimon_ms":0,"slaves":[{"interface":"eth0","state":"",` +
			`"link":"","link_failures":0}]}]`, 2},
	{"the members know the name of the bond", bondText + "Slave Interface: eth7\n\n$ ip link\n2: eth7: <UP> mtu 1500 " +
		"master lag0 state UP\n$ nproc\n4\n", func(s netstate.HostSnapshot) any { return s.State.Bonds[0].Interface },
		`"lag0"`, 0},
	{"a table of CPUs that are online", "$ cat /proc/interrupts\n  CPU0 CPU2\n 24: 5 7 PCI-MSI 1-edge eth0-rx-0\n" +
		"LOC: 1 2 Local timer\n",
		func(s netstate.HostSnapshot) any {
			return []any{s.State.NICs[0].IRQs, s.Reading.End.Events, s.Host.CPUs}
		},
		`[[{"irq":24,"name":"eth0-rx-0","affinity":"","count":12,"by_cpu":[{"cpu":0,"count":5},{"cpu":2,` +
			`"count":7}]}],` +
			`[{"cpu":0,"interrupts":6},{"cpu":2,"interrupts":9}],2]`, 0},
	{"filtered interrupts are no sum", "$ grep -E 'CPU|eth' /proc/interrupts\n  CPU0 CPU1\n" +
		" 24: 5 7 GICv3 65 Level eth0\n",
		func(s netstate.HostSnapshot) any { return []any{s.State.NICs[0].IRQs[0].Count, s.Reading.End.Events} },
		`[12,null]`, 0},
	{"an interrupt of a disk", "$ grep -E 'eth|nvme' /proc/interrupts\n 24: 5 7 PCI-MSI 1-edge eth0\n" +
		" 25: 9 9 PCI-MSI 2-edge nvme0q1\n",
		func(s netstate.HostSnapshot) any { return len(s.State.NICs) }, `1`, 0},
	{"numbers are no interrupts", "$ ethtool -i eth0\ndriver: igb\n\n0: 1 2 3\n1: 4 5 6\n", ofNICs,
		`[{"interface":"eth0","driver":"igb","carrier":true,"carrier_changes":0,"tx_queue_len":0}]`, 2},
	{"a table of another kind is no load",
		"10:11:01 CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle\n" +
			"10:11:02 3 1.00 0 2.00 0 0 96.00 0 0 0 1.00\n\n10:11:01 CPU intr/s\n10:11:02 3 7.00\n",
		func(s netstate.HostSnapshot) any { return s.State.CPULoad },
		`[{"cpu":3,"user":0.01,"system":0.02,"irq":0,"softirq":0.96,"steal":0,"idle":0.01}]`, 0},
	{"a link without its device", "$ lspci -vv -s 3b:00.1 | grep Lnk\n" +
		"\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x8, ASPM not\n" +
		"\t\tLnkSta:\tSpeed 8GT/s, Width x8\n", ofNICs, `[{"interface":"0000:3b:00.1","bus":"0000:3b:00.1",` +
		`"pcie":{"width":8,"most_width":8,"gt_per_s":8,"most_gt_per_s":16},"carrier":true,"carrier_changes":0,` +
		`"tx_queue_len":0}]`, 0},
	{"a link of another device", "$ lspci -vv\n3b:00.1 VGA compatible controller: Frob\n" +
		"\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x8\n" +
		"\t\tLnkSta:\tSpeed 8GT/s, Width x8\n$ nproc\n4\n", ofNICs, `null`, 0},
	{"the log names the interface",
		"[ 1.0] mlx5_core 0000:1d:00.0: 63.008 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x4 link)\n" +
			"[ 2.0] mlx5_core 0000:1d:00.0 ens7np0: renamed from eth0\n$ ethtool ens7np0\nSettings for ens7np0:\n" +
			"\tSpeed: 25000Mb/s\n", ofNICs,
		`[{"interface":"ens7np0","bus":"0000:1d:00.0","pcie":{"width":4,"most_width":4,"gt_per_s":16,` +
			`"most_gt_per_s":16},` +
			`"carrier":true,"carrier_changes":0,"tx_queue_len":0,"speed_mbps":25000}]`, 0},
	{"a wireless link filtered", "$ iw dev wlan0 station dump | grep signal\n\tsignal:  \t-60 [-63, -63] dBm\n",
		ofNICs, `[{"interface":"wlan0","carrier":true,"carrier_changes":0,"wireless":true,"wifi":{"signal_dbm":-60},` +
			`"tx_queue_len":0}]`, 0},
	{"files of an interface", "/sys/class/net/eth0/mtu:1500\n/sys/class/net/eth0/speed:-1\n" +
		"/sys/class/net/eth0/statistics/rx_errors:x\n",
		func(s netstate.HostSnapshot) any {
			return []any{s.Reading.Snapshot.Interfaces[0].MTU,
				s.Reading.End.Interfaces}
		}, `[1500,null]`, 1},
}

func ofNICs(s netstate.HostSnapshot) any  { return s.State.NICs }
func ofBonds(s netstate.HostSnapshot) any { return s.State.Bonds }
func ofFeatures(s netstate.HostSnapshot) any {
	return []any{s.State.NICs[0].Features, s.State.NICs[0].Fixed}
}
func ofCounters(s netstate.HostSnapshot) any { return s.State.NICs[0].Counters }

// TestHardware: edge cases of the texts about NICs, bonds, CPUs and buses.
func TestHardware(t *testing.T) {
	for _, test := range hardwareTexts {
		p, err := Parse(test.text)
		if err != nil {
			if test.want != "null" {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		got := asJSON(t, test.part(p.Machines[0]))
		if got != test.want || p.Lost != test.lost || len(p.Machines) != 1 {
			t.Errorf("%s: %d machines, not understood %q: %s, want %s", test.name, len(p.Machines), p.NotUnderstood,
				got, test.want)
		}
	}
}

// TestBusOf: names of systemd have the PCI address.
func TestBusOf(t *testing.T) {
	for name, want := range map[string]string{"enp29s0f1np1": "0000:1d:00.1", "enP2p1s0": "0002:01:00.0", "eth0": "",
		"enp3s0": "0000:03:00.0", "ens1f0": "", "enp999s0": "", "enp3s0.100": ""} {
		if got := busOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestManyBonds: a bond's members and the counters by CPU are limited.
func TestManyBonds(t *testing.T) {
	text := bondText + strings.Repeat("Slave Interface: eth0\n", mostRows+10)
	p := parse(t, text)
	if b := p.Machines[0].State.Bonds; len(b) != 1 || len(b[0].Slaves) > mostRows || len(b[0].Slaves) < mostRows/2 {
		t.Errorf("%d bonds", len(b))
	}
	row := " 24:" + strings.Repeat(" 1", 100) + " PCI-MSI eth0\n"
	p = parse(t, strings.Repeat(row, 3000))
	counts := 0
	for _, irq := range p.Machines[0].State.NICs[0].IRQs {
		counts += len(irq.ByCPU)
	}
	if counts > 8*mostRows || !slices.Contains(p.Machines[0].Pasted, "interrupts") {
		t.Errorf("%d counts, %v", counts, p.Machines[0].Pasted)
	}
}
