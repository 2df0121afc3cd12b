package netstate

import (
	"regexp"
	"strings"
	"testing"
)

// TestMessages: each message of the table has its own example, and no other one; one word of it is no
// message. All say what they mean, and faults what to do.
func TestMessages(t *testing.T) {
	codes := map[string]bool{}
	for i := range Messages {
		m := &Messages[i]
		if codes[m.Code] || !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(m.Code) {
			t.Errorf("code %q is taken, or no name", m.Code)
		}
		codes[m.Code] = true
		for j := range Messages {
			if other := &Messages[j]; other.pattern.MatchString(m.Example) != (i == j) {
				t.Errorf("%s: its example matches %s: %t", m.Code, other.Code, i != j)
			}
		}
		if found := MessageOf(m.Example); found != m {
			t.Errorf("%s: its example is not found by its words", m.Code)
		}
		for word := range strings.FieldsSeq(m.Example) {
			if text := "[a] " + word + " of 7"; m.Sure != "" && m.pattern.MatchString(text) {
				t.Errorf("%s: the word of a message is one: %q", m.Code, text)
			}
		}
		if m.Means == "" || m.Source == "" || (m.Do == "") != (m.Sure == "") || strings.HasSuffix(m.Means, ".") {
			t.Errorf("%s: a text is missing, or is no clause: %+v", m.Code, m)
		}
		if AboutNetwork(m.Example) == m.Elsewhere {
			t.Errorf("%s: is about the network: %t", m.Code, m.Elsewhere)
		}
		if m.Least > 0 && m.Subject(m.Example) == "" {
			t.Errorf("%s: lines are counted, and have no subject", m.Code)
		}
	}
	if len(Messages) < 60 {
		t.Errorf("%d messages", len(Messages))
	}
}

// TestMessageOf: other forms of the messages, and lines that resemble them.
func TestMessageOf(t *testing.T) {
	for text, want := range map[string]string{
		"r8125 0000:22:04.0 eth4: NETDEV WATCHDOG: CPU: 3: transmit queue 0 timed out 5010 ms":                      "transmit-timeout",
		"WARNING: CPU: 0 PID: 0 at net/sched/sch_generic.c:525 dev_watchdog+0x207/0x210":                            "transmit-timeout",
		"mlx5_core 0000:03:00.0 ens1: TX timeout on queue: 3, SQ: 0x4e, CQ: 0x9, SQ Cons: 0x1 SQ Prod: 0x40":        "driver-timeout",
		"virtio_net virtio0 eth0: TX timeout on queue: 0, sq: output.0, vq: 0x1, name: output.0, 5120000 usecs ago": "driver-timeout",
		"bnxt_en 0000:65:00.0 eth0: TX timeout detected, starting reset task!":                                      "driver-timeout",
		"ena 0000:00:05.0 ens5: Found a Tx that wasn't completed on time, qid 3, index 512. 8000 usecs have passed " +
			"since last napi execution. Missing Tx timeout value 5000 msecs": "driver-timeout",
		"ena 0000:00:05.0 ens5: Keep alive watchdog timeout.":                                        "driver-timeout",
		"tg3 0000:02:00.0 eth0: transmit timed out, resetting":                                       "driver-timeout",
		"i40e 0000:3b:00.0 eth0: tx_timeout: VSI_seid: 390, Q 5, NTC: 0x1a5, HWB: 0x1a5, NTU: 0x1c7": "driver-timeout",
		"igb 0000:01:00.0: Detected Tx Unit Hang":                                                    "unit-hang",
		"e1000e 0000:00:19.0 eth0: Reset adapter unexpectedly":                                       "unit-hang",
		"ixgbe 0000:05:00.0 eth2: initiating reset to clear Tx work after link loss":                 "",
		"igb 0000:02:00.0 eth1: Link Speed was downgraded by SmartSpeed":                             "downshift",
		"r8169 0000:22:00.0 enp34s0: Link is Up - 100Mbps/Full (downshifted) - flow control off":     "downshift",
		"r8169 0000:22:00.0 enp34s0: Link is Up - 100Mbps/Half - flow control off":                   "half-duplex",
		"tg3 0000:02:00.0 eth0: Link is up at 100 Mbps, half duplex":                                 "half-duplex",
		"tg3 0000:02:00.0 eth0: Link is up at 1000 Mbps, full duplex":                                "link-up",
		"r8125: eth1: link up":                                                              "link-up",
		"r8125: eth1: link down":                                                            "link-lost",
		"r8169 0000:03:00.0 eth0: Link is Down":                                             "link-lost",
		"mlx5_core 0000:03:00.0 ens1f0np0: Link down":                                       "link-lost",
		"ix0: link state changed to DOWN":                                                   "link-lost",
		"usb 1-1: link qualified":                                                           "",
		"IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready":                           "link-up",
		"Neighbour table overflow.":                                                         "neighbours-full",
		"ipv6: Neighbour table overflow":                                                    "neighbours-full",
		"IPv6: eth0: IPv6 duplicate address detected!":                                      "address-taken",
		"ICMPv6: NA: 02:00:5e:10:00:67 advertised our address 2001:db8::1 on eth0!":         "address-taken",
		"arp: 02:00:5e:10:00:67 is using my IP address 192.0.2.1 on ix0!":                   "address-taken",
		"TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:80. Sending cookies.": "syn-queue-full",
		"possible SYN flooding on port 80. Sending cookies.":                                "syn-queue-full",
		"TCP: too many orphaned sockets":                                                    "tcp-memory",
		"TCP: time wait bucket table overflow (CT0)":                                        "time-wait-full",
		"ip_conntrack: table full, dropping packet.":                                        "conntrack-full",
		"nf_conntrack: automatic helper assignment is deprecated and it will be removed soon. Use the iptables CT " +
			"target to attach helpers instead.": "conntrack-helper",
		"TCP: Treason uncloaked! Peer 192.0.2.1:443/51234 shrinks window 1:2. Repaired.": "window-shrunk",
		"bonding: bond0: link status definitely down for interface eth1, disabling it":   "bond-member-down",
		"pci 0000:04:00.0: 8.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x2 link at 0000:00:1c.0 " +
			"(capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)": "",
		"amdgpu 0000:04:00.0: 8.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x2 link at 0000:00:1c.0 " +
			"(capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)": "",
		"i40e 0000:3b:00.0: PCI-Express bandwidth available for this device may be insufficient for optimal " +
			"performance.": "pcie-bandwidth",
		"ixgbe 0000:06:00.1: PCI Express bandwidth of 32GT/s available":                                   "",
		"ixgbe 0000:06:00.1: (Speed:5.0GT/s, Width: x8, Encoding Loss:20%)":                               "",
		"pcieport 0000:00:1c.0: AER: Corrected error received: 0000:01:00.0":                              "pcie-error",
		"DMAR: DRHD: handling fault status reg 2":                                                         "iommu-fault",
		"AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:01:00.0 domain=0x000e address=0x0 flags=0x0020]": "iommu-fault",
		"Clocksource tsc unstable (delta = -74990996 ns)":                                                 "clock-unstable",
		"bnx2 0000:02:00.0: Direct firmware load for bnx2/bnx2-mips-09-6.2.1b.fw failed with error -2":    "firmware-missing",
		"i915 0000:00:02.0: Direct firmware load for i915/skl_dmc_ver1_27.bin failed with error -2":       "",
		"eth0: dropped over-mtu packet: 1514 > 1450":                                                      "over-mtu",
		"gre0: xmit: Routing loop! Remote address found on this node!":                                    "routing-loop",
		"br-lan: port 1(eth1) entered forwarding state":                                                   "stp-state",
		"veth1: left promiscuous mode":                                                                    "promiscuous",
		"Out of memory: Kill process 1234 (java) score 900 or sacrifice child":                            "killed-for-memory",
		"INFO: rcu_sched detected stalls on CPUs/tasks: { 3} (detected by 0, t=60002 jiffies)":            "rcu-stall",
		"nvme nvme0: I/O 12 QID 3 timeout, reset controller":                                              "disk",
		"ata3.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen":                                "disk",
		"WARNING: CPU: 1 PID: 9 at fs/ext4/inode.c:3599 ext4_set_page_dirty+0x3e/0x50":                    "",
		"EXT4-fs (sda1): mounted filesystem with ordered data mode":                                       "",
		"mmc_rx_fifo_overflow: 7":                                                                         "", // a counter
		"eth0: Rx FIFO overflow":                                                                          "receive-fifo",
		"":                                                                                                "",
	} {
		got := ""
		if m := MessageOf(text); m != nil {
			got = m.Code
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestSubject: lines about a lost link are counted for each interface.
func TestSubject(t *testing.T) {
	for text, want := range map[string]string{
		"igb 0000:03:00.0 eno1: igb: eno1 NIC Link is Down": "eno1", "ix0: link state changed to DOWN": "ix0",
		"stmmaceth ff540000.ethernet end0: Link is Down": "end0", "r8125: eth1: link down": "eth1",
		"bnxt_en 0000:65:00.0 enp101s0f0np0: NIC Link is Down": "enp101s0f0np0",
	} {
		if m := MessageOf(text); m == nil || m.Code != "link-lost" || m.Subject(text) != want {
			t.Errorf("%q is about %v, want %q", text, m, want)
		}
	}
}

func BenchmarkAboutNetwork(b *testing.B) {
	const line = "EXT4-fs (sda1): mounted filesystem 0f2b6c9e-1a2b-4c3d with ordered data mode. Quota mode: none."
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		AboutNetwork(line)
	}
}
