package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/pasted"
)

// tarOf is a tar archive of members, each with its text.
func tarOf(t testing.TB, members map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text := members[name]
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Outputs as the members of the archives have them, each with an address of the host.
func addressText(last int) string {
	return fmt.Sprintf("2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP qlen 1000\n"+
		"    link/ether 52:54:00:12:34:%02x brd ff:ff:ff:ff:ff:ff\n"+
		"    inet 192.0.2.%d/24 brd 192.0.2.255 scope global eth0\n"+
		"       valid_lft forever preferred_lft forever\n", last, last)
}

const (
	halfText = "Settings for eth0:\n\tSpeed: 100Mb/s\n\tDuplex: Half\n\tLink detected: yes\n"
	logText  = "[    1.000000] Linux version 6.12\n" +
		"[   12.000000] r8169 0000:01:00.0 eth0: NETDEV WATCHDOG: transmit queue 0 timed out\n"
	processText = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n" +
		"root           1  0.0  0.1 1 1 ? Ss 10:00 0:01 init\n"
	pciText = "01:00.0 Ethernet controller [0200]: Realtek RTL8111 [10ec:8168] (rev 15)\n" +
		"\t\tLnkCap:\tPort #0, Speed 5GT/s, Width x4\n\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x1 (downgraded)\n"
)

// supportconfigText has sections as supportconfig writes them.
func supportconfigText(sections ...string) string {
	text := "=============================================================================\n" +
		"                     Support Utilities - Supportconfig\n" +
		"=============================================================================\n"
	for i := 0; i+2 < len(sections); i += 3 {
		text += fmt.Sprintf("\n#==[ %s ]%s#\n# %s\n%s", sections[i], strings.Repeat("=", 30), sections[i+1],
			sections[i+2])
	}
	return text
}

// runText has outputs as crm_report writes them.
func runText(outputs ...string) (text string) {
	for i := 0; i+1 < len(outputs); i += 2 {
		text += fmt.Sprintf("##### Run %q #####\n%s\n", outputs[i], outputs[i+1])
	}
	return text
}

// TestProducts: the hosts of the archives of each product are distinguished and named, and what their members
// have is read: as "host: parts". What has no meaning is not among what is not understood.
func TestProducts(t *testing.T) {
	sos := func(name string, last int) map[string]string {
		dir := "sosreport-" + name + "-2026-11-29-abcdefg/"
		return map[string]string{
			dir + "sos_commands/networking/ip_-d_address":     addressText(last),
			dir + "sos_commands/networking/ethtool_eth0":      halfText,
			dir + "sos_commands/networking/ethtool_-S_eth0":   "NIC statistics:\n     rx_crc_errors: 500\n",
			dir + "sos_commands/kernel/sysctl_-a":             "net.ipv4.tcp_timestamps = 0\n",
			dir + "sos_commands/kernel/dmesg":                 logText,
			dir + "sos_commands/pci/lspci_-nnvv":              pciText,
			dir + "sos_commands/process/ps_auxwww":            processText,
			dir + "sos_commands/logs/journalctl_--no-pager":   "Nov 29 10:00:00 " + name + " app[1]: hello\n",
			dir + "sos_commands/sar/sar29":                    sarText,
			dir + "sos_commands/networkmanager/x_not_a_thing": "what nothing knows\n",
			dir + "etc/sysctl.conf":                           "net.core.rmem_max = 16777216\n",
			dir + "proc/net/softnet_stat":                     softnet,
			dir + "hostname":                                  name + "\n",
		}
	}
	const sosParts = "cpu load,interface counters,interface counters/rx_crc_errors,interface flags,interfaces," +
		"kernel log,nics,parameter files,parameters,pci,softnet"
	gathered := "must-gather.local.123/quay-io-must-gather-sha256-abc/"
	mustGather := map[string]string{gathered + "namespaces/sriov/pods/config-x/ip_link": addressText(12),
		gathered + "host_service_logs/masters/NetworkManager_service.log": "Nov 29 10:00:00 master-0 NetworkManager[1]: <info> x\n"}
	for n, node := range []string{"worker-0", "worker-1"} {
		dir := gathered + "nodes/" + node + "/"
		mustGather[dir+"sysinfo.tgz"] = tarOf(t, map[string]string{"proc/net/softnet_stat": softnet})
		mustGather[dir+"dmesg"], mustGather[dir+"lspci"], mustGather[dir+"lscpu"] = logText, pciText, "CPU(s): 4\n"
		mustGather[dir+"ip_addr.txt"] = addressText(10 + n)
	}
	crm := map[string]string{"crm_report/analysis.txt": "Diff cib.xml... OK\n"}
	for n, node := range []string{"alice", "bob"} {
		crm["crm_report/"+node+"/sysinfo.txt"] = "Platform: Linux\nKernel release: 6.4.0\n"
		crm["crm_report/"+node+"/sysstats.txt"] = runText("hostname", node+"\n", "uptime",
			" 10:12:00 up 3 days,  4:01,  1 user,  load average: 0.01, 0.03, 0.00\n", "ps auxw", processText, "ip addr",
			addressText(10+n), "ip n show", "192.0.2.1 dev eth0 lladdr 52:54:00:00:00:01 REACHABLE\n")
	}
	for name, c := range map[string]struct {
		members map[string]string
		want    string
	}{
		"sos": {sos("web1", 10), "web1: " + sosParts},
		"sos collect": {map[string]string{
			"sos-collector-case-2026/sosreport-web1-2026-11-29-abcdefg.tar": tarOf(t, sos("web1", 10)),
			"sos-collector-case-2026/sosreport-web2-2026-11-29-hijklmn.tar": tarOf(t, sos("web2", 11)),
		}, "web1: " + sosParts + "; web2: " + sosParts},
		"supportconfig": {map[string]string{
			"scc_sles1_251129_1012/network.txt": supportconfigText(
				"Verification", "rpm -V wicked", "# Verification Status: Passed\n",
				"Command", "/sbin/ip addr", addressText(10), "Command", "/usr/sbin/ethtool eth0", halfText,
				"Command", "/usr/bin/ping -n -c1 -W1 192.0.2.1", "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n\n"+
					"# Connectivity Test, Default Route 192.0.2.1: Success\n",
				"Command", "hwinfo --netcard", "ERROR: Command not found or not executable\n",
				"Command", "iptables", "\n# NOTE: The iptable_nat module is not loaded, skipping check\n",
				"Configuration File", "/etc/sysconfig/network/ifcfg-eth0", "BOOTPROTO='static'\n",
				"Log File", "/var/log/firewalld - File not found", ""),
			"scc_sles1_251129_1012/network-red.txt": supportconfigText(
				"Command", "/sbin/ip netns exec red ip addr", addressText(11),
				"Command", "/sbin/ip netns exec red /usr/sbin/ethtool eth0", halfText),
			"scc_sles1_251129_1012/env.txt": supportconfigText(
				"Command", "/sbin/sysctl -a", "net.ipv4.tcp_timestamps = 0\n",
				"Configuration File", "/etc/sysctl.conf", "net.core.rmem_max = 16777216\n"),
			"scc_sles1_251129_1012/basic-health-check.txt": supportconfigText("Command", "/bin/date",
				"Sat Nov 29 10:12:00 UTC 2025\n", "Command", "/usr/bin/free -k",
				"       total used free shared buff/cache available\n"+
					"Mem: 16274432 15000000 121000 460000 460000 208900\n"),
			"scc_sles1_251129_1012/boot.txt": supportconfigText("Command", "/bin/dmesg", logText,
				"Log File", "/var/log/messages - Last 500 Lines", "Nov 29 10:00:00 sles1 app[1]: hello\n"),
			"scc_sles1_251129_1012/hardware.txt": supportconfigText("Command", "/sbin/lspci -nnvv", pciText),
		}, "sles1/red: interface flags,interfaces,nics; " +
			"sles1: interface flags,interfaces,kernel log,memory,nics,parameter files,parameters,pci"},
		"directory of supportconfig": {map[string]string{
			"case/scc_a_251129_1012/network.txt": supportconfigText("Command", "/sbin/ip addr", addressText(10)),
			"case/scc_b_251129_1012/env.txt":     supportconfigText("Command", "/sbin/sysctl -a", "net.ipv4.tcp_sack = 0\n"),
		}, "a: interface flags,interfaces; b: parameters"},
		"crm_report": {crm, "alice: interface flags,interfaces,neighbours; bob: interface flags,interfaces,neighbours"},
		"must-gather": {mustGather,
			"config-x: interface flags,interfaces; " +
				"worker-0: interface flags,interfaces,kernel log,pci,softnet; " +
				"worker-1: interface flags,interfaces,kernel log,pci,softnet"},
		"a container's /proc/net": {map[string]string{
			"case/proc/net/snmp":         "Tcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 1000 50\n",
			"case/proc/net/softnet_stat": softnet}, "case: snmp,softnet"},
	} {
		a, err := Read(t.Context(), strings.NewReader(tarOf(t, c.members)), "x.tar")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := pasted.ParseMembers(a.Members, "x.tar")
		var got []string
		for _, m := range text.Machines {
			got = append(got, m.Reading.Host+": "+strings.Join(m.Pasted, ","))
		}
		slices.Sort(got)
		if strings.Join(got, "; ") != c.want || text.Lost > 0 {
			t.Errorf("%s:\n%s\nwant\n%s\nnot understood: %q", name, strings.Join(got, "; "), c.want, text.NotUnderstood)
		}
	}
}

// sarText is of sar -A for a day.
const sarText = "Linux 6.12.0 (web1) \t11/29/2026 \t_x86_64_\t(2 CPU)\n\n" +
	"12:00:01 AM     CPU      %usr     %nice      %sys   %iowait    %steal      %irq     %soft     %idle\n" +
	"12:10:01 AM     all     10.00      0.00      5.00      0.00      0.00      0.00      1.00     84.00\n"
