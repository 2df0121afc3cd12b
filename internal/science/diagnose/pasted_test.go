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

// pastedCase is a text of testdata/pasted, and what is found in it. The text has the output of
// the tool between two lines "----", beside what else the rule needs.
type pastedCase struct {
	file, rule, host, confidence string
	evidence                     string // a part of it; of a finding that is data, of its facts in JSON
}

var pastedCases = []pastedCase{
	{"ethtool-half.txt", "half-duplex", "nas", record.Certain, `"mbps":100,"duplex":"half","autoneg":false`},
	{"ethtool-half.txt", "speed-below-best", "nas", record.Likely,
		`"mbps":100,"offered_mbps":100,"best_mbps":1000`},
	{"ethtool-down.txt", "link-down", "nas", record.Certain,
		`"interface":"eth1","operstate":"down","addresses":["192.0.2.15/24"]`},
	{"ethtool-statistics.txt", "ring-overrun", "host1", record.Possible,
		`"missed":48213,"received":918273645,"since_boot":true`},
	{"ethtool-mlx5.txt", "ring-overrun", "gpu1", record.Possible,
		`"interface":"ens1f0np0","missed":7311`},
	{"ethtool-ring.txt", "ring-small", "nas", record.Possible,
		`"descriptors":256,"most":4096,"missed":912,"since_boot":true`},
	{"ethtool-features.txt", "offload-off", "nas", record.Likely, `"feature":"tx-tcp-segmentation"`},
	{"ethtool-coalesce.txt", "interrupts-delayed", "nas", record.Possible,
		`"rx_us":250,"rx_frames":0`},
	{"ethtool-driver.txt", "emulated-nic", "vm", record.Possible, `"interface":"ens3","driver":"e1000"`},
	{"ethtool-channels.txt", "one-queue", "nas", record.Likely, `"channels":1,"most":4,"cpus":4`},
	{"ss-tin.txt", "window-limited", "nas", record.Likely,
		`"remote":"192.0.2.21:743","waited_us":58100000,"busy_us":61200000,"window_bytes":24576`},
	{"ss-tin.txt", "unread-data", "nas", record.Possible,
		`"remote":"192.0.2.22:50122","state":"ESTAB","unread_bytes":1843200`},
	{"ss-tinmpo.txt", "peer-window-closed", "web", record.Likely,
		`"remote":"10.1.0.77:40122","state":"ESTAB","unread_bytes":0,"unacknowledged_bytes":87380,"timeouts":6`},
	{"ss-ltn.txt", "accept-queue-full", "host1", record.Certain,
		`"local":"0.0.0.0:8080","queued":129,"backlog":128,"program":"java"`},
	{"ss-uanm.txt", "udp-queue-full", "syslog", record.Likely,
		`"local":"0.0.0.0:514","bytes":213248,"drops":81723,"program":"rsyslogd"`},
	{"ss-uanm.txt", "udp-socket-dropped", "syslog", record.Possible, `"local":"0.0.0.0:514","drops":81723`},
	{"ss-s.txt", "ports-in-time-wait", "proxy", record.Possible, `"in_time_wait":{"count":27411`},
	{"route-gateway.txt", "gateway-unresolved", "client", record.Certain, "192.0.2.1"},
	{"route-blackhole.txt", "blackhole-route", "client", record.Likely, "blackhole 198.51.100.0/24"},
	{"rule.txt", "rule-without-routes", "nas", record.Likely,
		`"priority":100,"from":"192.0.2.16/32","table":101`},
	{"route-back.txt", "return-route-missing", "db", record.Certain, `"routeless":{"to":"203.0.113.7"}`},
	{"route-asymmetric.txt", "strict-rp-filter", "nas", record.Likely,
		`"from":[{"to":"198.51.100.9","by":"eth0"}],"dropped_by":"eth1"`},
	{"sysctl.txt", "timestamps-off", "host1", record.Possible, `"key":"net.ipv4.tcp_timestamps","value":"0"`},
	{"sysctl.txt", "receive-buffer-small", "host1", record.Likely,
		`"key":"net.ipv4.tcp_rmem","value":"4096\t87380\t174760"`},
	{"softnet.txt", "softnet-drop", "router", record.Possible,
		`"cpu":2,"dropped":6451,"took":67642234`},
	{"softnet.txt", "packets-squeezed", "router", record.Possible, `"times":1051954,"packets":`},
	{"tc.txt", "qdisc-drop", "nas", record.Possible, `"handle":"8001:","dropped":61234,"sent":51827364`},
	{"dmesg.txt", "fault-logged", "host1", record.Possible,
		"NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out"},
	{"dmesg.txt", "fault-logged", "host1", record.Possible, "nf_conntrack: nf_conntrack: table full, dropping packet"},
	{"syslog.txt", "fault-logged", "gpu3", record.Likely, "31.504 Gb/s available PCIe bandwidth"},
	{"syslog.txt", "fault-logged", "gpu3", record.Likely, "No 802.3ad response"},
	{"iptables.txt", "firewall-drop", "host1", record.Possible, `"place":"ip filter INPUT rule 1"`},
	{"nft-set.txt", "nft-set-full", "host1", record.Likely, `"elements":4,"size":4`},
	{"conntrack.txt", "conntrack-full", "host1", record.Certain, `"count":261002,"most":262144`},
	{"ping-lost.txt", "probe-lost", "host1", record.Likely, `"sent":50,"received":41`},
	{"ping-sizes.txt", "mtu-blackhole", "host1", record.Certain, `"interface":"eth0","interface_mtu":1500,"mtu":1492`},
	{"tracepath.txt", "path-mtu-smaller", "host1", record.Possible, `"interface_mtu":9000,"mtu":1500,"reported":true`},
	{"sysctl-conf.txt", "parameter-not-applied", "host1", record.Possible,
		`"file":"/etc/sysctl.conf","line":2,"key":"net.core.rmem_max","value":"16777216","kernel":"212992"`},
	{"free.txt", "memory-short", "host1", record.Likely, `"available_bytes":213909504`},
	{"lldp.txt", "lldp-link", "host1", record.Likely, `port Gi1/0/7 of sw1`},
	{"timedatectl.txt", "clock-unsynchronised", "host1", record.Possible, ""},
	{"ip-down.txt", "link-down", "nas", record.Certain, `"route":"default via 192.0.2.1 dev eth1"`},
	{"ifconfig-down.txt", "link-down", "nas", record.Certain, `"interface":"eth1","operstate":"down"`},
	{"freebsd.txt", "half-duplex", "fw", record.Certain, `"interface":"ix0","mbps":1000,"duplex":"half","autoneg":true`},
	{"freebsd.txt", "collisions", "fw", record.Possible, `"grew":91823,"since_boot":true,"packets":81726354`},
	{"freebsd.txt", "listen-overflow", "fw", record.Possible, `"grew":1204,"since_boot":true`},
	{"netstat-m.txt", "network-buffers-denied", "nas", record.Possible,
		`"name":"Mbuf.Clusters9kDenied","printed":"netstat -m: requests for 9k jumbo clusters denied","grew":918273`},
	{"netstat-m.txt", "network-buffers-short", "nas", record.Likely,
		`"name":"9k jumbo clusters","used":149841,"most":150213`},
	{"sysctl-openbsd.txt", "input-queue-drop", "gw", record.Possible, `"grew":81726,"since_boot":true`},
	{"sysctl-freebsd.txt", "transmit-ring-stalled", "edge", record.Likely, `"interface":"igc0","ring":"txq0"`},
	{"vmstat-i.txt", "interrupts-of-one-queue", "fw", record.Possible,
		`"queue":"igb0:rxq0","count":912837465,"of":912864910,"queues":3`},
	{"proc-udp.txt", "udp-queue-full", "log1", record.Likely, `"local":"0.0.0.0:9002","bytes":213504,"drops":1887364512`},
	{"netstat-neopa.txt", "peer-window-closed", "web", record.Likely,
		`"remote":"10.1.0.77:40122","state":"ESTAB","unread_bytes":0,"unacknowledged_bytes":87380,"timeouts":6`},
	{"netstat-neopa.txt", "unread-data", "web", record.Possible, `"unread_bytes":262144`},
	{"netstat-neopa.txt", "unacknowledged", "web", record.Likely, `"remote":"10.1.0.79:40125"`},
	{"route-n.txt", "gateway-unresolved", "client", record.Certain, "192.0.2.1"},
	{"route-n.txt", "blackhole-route", "client", record.Likely, "blackhole 203.0.113.0/24"},
	{"netstat-s-old.txt", "sack-reneging", "web-17", record.Possible, `"grew":19,"since_boot":true`},
	{"mii-tool.txt", "half-duplex", "old", record.Certain, `"interface":"eth1","mbps":100,"duplex":"half"`},
	{"ip-json.txt", "interface-errors", "host1", record.Possible, `"grew":50,"since_boot":true,"packets":1000`},
	{"nmcli.txt", "emulated-nic", "vm", record.Possible, `"interface":"enp1s0","driver":"e1000"`},
	{"sar-day.txt", "tcp-retransmissions", "web1", record.Likely, `"from":"11:50:01 PM","to":"12:00:01 AM","among":3`},
	{"sar-day.txt", "tcp-retransmissions", "web1", record.Likely, `"grew":30000,"over_s":600`},
	{"sar-day.txt", "interface-errors", "web1", record.Certain, `"from":"11:55:01 PM","to":"12:05:01 AM","among":3`},
	{"sar-day.txt", "cpu-saturated", "web1", record.Likely, `"from":"11:50:01 PM","to":"12:00:01 AM","among":2`},
	{"sar-day.txt", "cpu-saturated", "web1", record.Likely, `"cpu":-1`},
	{"sar-no-command.txt", "softnet-drop", "db2", record.Certain, `"cpu":0,"dropped":12000,"took":890000`},
	{"sar-no-command.txt", "softnet-drop", "db2", record.Certain, `"from":"10:11:01","to":"10:11:11","among":2`},
	{"sar-no-command.txt", "udp-no-listener", "db2", record.Likely, `"grew":9000`},
	{"sar-no-command.txt", "reassembly-failed", "db2", record.Certain, `"from":"10:11:01","to":"10:11:11","among":2`},
}

// TestPastedUnknown: what a text does not say is not judged: the backlog of listeners, and the MTU of
// the ports of a bridge.
func TestPastedUnknown(t *testing.T) {
	for text, wrong := range map[string][]string{
		"$ netstat -ltn\ntcp 5 0 0.0.0.0:80 0.0.0.0:* LISTEN\n": {"accept-queue-full", "backlog-small"},
		"$ brctl show\nbr0\t8000.0200478aa2e8\tno\tem1\n\t\t\t\tem2\n$ ip -br link\nem1 UP 02:00:00:00:00:01 <UP>\n" +
			"$ ip link\n3: em2: <UP> mtu 1500\n": {"bridge-mtu-mixed"},
	} {
		p, err := pasted.Parse(text)
		if err != nil || p.Lost > 0 {
			t.Errorf("%q: %v, not understood %q", text, err, p.NotUnderstood)
		}
		for _, f := range Hosts(p.Machines).Findings {
			if slices.Contains(wrong, f.ID) {
				t.Errorf("%q: %s: %s", text, f.ID, diagnosetest.Facts(f))
			}
		}
	}
}

// TestPasted: what each tool prints leads to a finding that is not there without it, and every
// line of it is understood.
func TestPasted(t *testing.T) {
	for _, c := range pastedCases {
		text, err := os.ReadFile(filepath.Join("testdata", "pasted", c.file))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split("\n"+string(text), "\n----\n")
		if len(parts) != 3 {
			t.Fatalf("%s: %d parts", c.file, len(parts))
		}
		p, err := pasted.Parse(strings.Join(parts, "\n"))
		if err != nil || p.Lost > 0 {
			t.Errorf("%s: %v, not understood %q", c.file, err, p.NotUnderstood)
		}
		e := Hosts(p.Machines)
		if !slices.ContainsFunc(e.Findings, c.matches) {
			t.Errorf("%s: no %s (%s) on %s with %q: %+v", c.file, c.rule, c.confidence, c.host, c.evidence, e.Findings)
		}
		if slices.Contains(e.Evaluated, c.rule) == false {
			t.Errorf("%s: %s is not among what was evaluated", c.file, c.rule)
		}
		without, err := pasted.Parse(parts[0] + "\n" + parts[2])
		if err == nil && slices.ContainsFunc(Hosts(without.Machines).Findings, func(f record.Finding) bool {
			return f.ID == c.rule
		}) {
			t.Errorf("%s: %s is found without what is between the lines", c.file, c.rule)
		}
	}
}

func (c pastedCase) matches(f record.Finding) bool {
	return f.ID == c.rule && f.Host == c.host && f.Confidence == c.confidence &&
		strings.Contains(diagnosetest.Facts(f), c.evidence)
}
