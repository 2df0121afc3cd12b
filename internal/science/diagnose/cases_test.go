package diagnose

import (
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
	for name, c := range map[string]struct {
		text, found, evidence string
		never                 string
	}{
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
		"a good wireless link": {link("-48", "866.7", "900"), "", "", "wireless-weak"},
	} {
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
