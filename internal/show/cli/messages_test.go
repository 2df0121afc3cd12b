package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/internal/control/notebook"
	"linerate/internal/host/serve"
	"linerate/internal/model/record"
	"linerate/internal/science/remedy"
	"linerate/internal/science/stats"
	"linerate/internal/show/present"
	"linerate/internal/show/showtest"
)

// wrongLines are what people get wrong, with what the answer has to name; ␣ is a space
// within an argument.
var wrongLines = []struct{ line, want string }{
	// Flags.
	{"measure nas --streem 4", "did you mean --streams?"},
	{"limits goodput --vlna 1", "did you mean --vlan?"},
	{"limits goodput --vlan", "--vlan needs a value: a whole number, 0 to 2"},
	{"limits goodput --rate",
		"--rate needs a value: a positive number with k, M or G, in bits per second, such as 100M"},
	{"limits goodput --family", "--family needs a value: ipv4 or ipv6"},
	{"measure nas --direction", "--direction needs a value: write, read or both"},
	{"measure nas --duration", "--duration needs a value: a number with us, ms, s, m or h, such as 25ms"},
	{"measure nas --streams", "--streams needs a value: a whole number"},
	{"measure nas -b", "--rate-cap needs a value: a positive number with k, M or G"},
	{"measure nas --token", "--token needs a file (file with the token"},
	{"measure nas --alias", "--alias needs an interface, such as 'eth1=192.168.2.1-254/24'"},
	{"measure nas --name", "--name needs a value: up to 80 characters in one line"},
	{"fix latest --map", "--map needs a value, such as eth0=enp3s0"},
	{"run --resume", "--resume needs a run (continue an interrupted run"},
	{"run --resume --quiet", "--resume needs a run before --quiet (continue"},
	{"run nas.yaml --resume --quiet", "--resume needs a run before --quiet (continue"},
	{"run arp-flux --set", "--set needs a value, such as workload.duration=5s"},
	{"run arp-flux --only", "--only needs levels: writes, reads, 'kernel defaults', arp_ignore=1, "},
	{"tune blog.conf --on", "--on needs a study: alias-connections, "},
	{"tune blog.conf --on arp-flux --host", "--host needs hosts: server, client1 or client2"},
	{"tune blog.conf --search", "--search needs KEY=FROM..TO (KEY=FROM..TO: the smallest value that is enough)"},
	{"limits goodput --vlan x", "--vlan x: expected a whole number, 0 to 2"},
	{"limits goodput --vlan 3", "--vlan 3: expected 0 to 2"},
	{"limits goodput --vlan --family ipv6", "--vlan needs a value before --family: a whole number, 0 to 2"},
	{"limits goodput --rate --vlan=1", "--rate needs a value before --vlan: "},
	{"measure nas --streams -R", "--streams needs a value before -R: "},
	{"limits ecmp --links 4 --target 95", "\"95\" is not a ratio: it has no %; expected 95%"},
	{"limits goodput --timestamps=maybe", `--timestamps "maybe": expected true or false`},
	{"run arp-flux --seed abc", `--seed "abc": expected a whole number of at least 0`},
	{"plot latest --scale big", `--scale "big": expected a number`},
	{"measure nas --streams many", `--streams "many": expected a whole number`},
	{"measure nas --pace fast --protocol rr", `--pace "fast": expected a number`},
	{"measure nas --nodelay=perhaps", `--nodelay "perhaps": expected true or false`},
	{"chek nas.yaml", `did you mean "check"?`},
	// Quantities.
	{"limits goodput --rate 1000", "expected 1000M for Mbit/s, or 1000bit for bit/s"},
	{"limits goodput --rate 100MB/s", "expected 800mbit"},
	{"limits goodput --rate 1gb", "expected 1gbit, or 8gbit for bytes"},
	{"limits goodput --family ipv6 --mtu 1279", "MTU 1279: IPv6 needs at least 1280 bytes (RFC 8200)"},
	{"export latest --output x.csv", "unknown flag: --output; here: --out"},
	{"limits bdp --window 8", "it has no unit; expected 8B, 8KiB or 8MiB"},
	{"limits bdp --answer 8", "it has no unit; expected 8B, 8KiB or 8MiB"},
	{"limits goodput --protocol udp --mss 1000", "--mss is for --protocol tcp"},
	{"doctor --host", "--host needs a host, such as root@nas"},
	{"doctor --probe",
		"--probe needs a peer (send some packets to a peer, an address or a name, and to the host's name servers)"},
	{"prove arp-flx", `did you mean "arp-flux"? (linerate doctor --list has them)`},
	{"doctor --explain rp-filter",
		`did you mean "rp-filter-drop", "strict-rp-filter" or "loose-rp-filter"? (linerate doctor --list has them)`},
	{"doctor --via env --probe nas;reboot", `--probe "nas;reboot": expected an address or a name`},
	{"doctor --explain arp-flx", `did you mean "arp-flux"? (linerate doctor --list has them)`},
	{"measure nas --expect latency_p99␣<␣=␣5ms", "expected <= without a space between"},
	{"diff arp.txt arp.txt", "linerate doctor arp.txt"},
	{"limits bdp --rtt 30", "expected 30ms, 30us or 30s"},
	{"measure nas --latency --expect latency_p99␣<=␣500", "such as 'latency_p99 <= 500us'"},
	// iperf3's options.
	{"measure -c nas -Z", "iperf3's -Z, --zerocopy; here: the default"},
	{"measure nas --parallel 4", "here: --streams"},
	{"measure nas -b 1G/10",
		`-b (--rate-cap) "1G/10": iperf3's /BURST is not supported: each connection is paced, without bursts; ` +
			`expected 1G`},
	{"measure nas -b 1G/x", `"1G/x" is not a bit rate`},
	{"measure nas -n 1G", "here: tests end by time: --duration"},
	{"measure -s", "linerate serve"},
	{"-c nas", "linerate measure HOST"},
	{"-s", "linerate serve"},
	{"serve -D", "systemd"},
	{"serve -s", "linerate serve"},
	{"measure nas -R --bidir", "expected one of them"},
	{"measure nas -u --protocol tcp", "-u and --protocol tcp"},
	{"measure nas -4 -6", "-4 and -6"},
	{"measure nas -S 3", "type of service"},
	{"measure nas -x", "unknown flag: -x; linerate measure --help lists them"},
	{"measure nas --paralel 2",
		"unknown flag: --paralel; did you mean --parallel? It is iperf3's -P, --parallel; here: --streams"},
	{"run nas --bloks 2", "unknown flag: --bloks; did you mean --blocks? Here: --replicates"},
	{"serve -p 5203 --listen :5204", "-p (--port) and --listen: expected one of them"},
	// Equivalents, numbers of arguments, names of verbs and runs.
	{"limits goodput -6", "unknown flag: -6; here: --family ipv6"},
	{"limits goodput --udp", "here: --protocol udp"},
	{"limits goodput --vxlan", "here: --tunnel vxlan"},
	{"limits goodput --tunnel-family ipv6", "--tunnel-family is for --tunnel"},
	{"measure 192.0.2.300", "is no IPv4 address: expected four numbers"},
	{"limits bdp --delay 30ms", "here: --rtt, twice the delay"},
	{"run arp-flux --blocks 3", "here: --replicates"},
	{"serve -s", "here: not needed: linerate serve"},
	{"compare one", "linerate: 1 argument, expected 2; "},
	{"prove strict-rp", `did you mean "strict-rp-filter"?`},
	{"new nass", "linerate: no template \"nass\"; did you mean \"nas\"?\n"},
	{"limits godput", `no verb "limits godput"; did you mean "goodput"? (linerate limits --help lists them)`},
	{"lint", `no verb "lint"; here: linerate tune FILE --lint`},
	{"lint --help", `no verb "lint"; here: linerate tune FILE --lint`},
	{"studie --help", `no verb "studie"; did you mean "studies"?`},
	{"study --help", `no verb "study"; here: linerate studies`},
	{"limits godput --help", `no verb "limits godput"; did you mean "goodput"?`},
	{"help study", `no verb "study"; here: linerate studies`},
	{"help limits godput", `no verb "limits godput"; did you mean "goodput"?`},
	{"lab upp", `no verb "lab upp"; did you mean "up"?`},
	{"runs nas-7", "linerate report nas-7 shows a run"},
	// Addresses and ports.
	{"measure", "such as linerate measure 192.0.2.1"},
	{"measure nas -t 5minutes", "such as 25ms, 30s or 5m"},
	{"measure ftp://127.0.0.1", "expected dns://"},
	{"limits goodput --vlan --ipv6", "--vlan --ipv6: expected a whole number, 0 to 2"},
	{"measure --dir both 127.0.0.1", "did you mean --direction?"},
	{"measure 127.0.0.1:99999", `port "99999": expected 1 to 65535`},
	{"measure 127.0.0.1:nosuch", `port "nosuch": expected 1 to 65535`},
	{"measure fe80::1", "such as fe80::1%eth0"},
	{"serve --listen :99999", `--listen ":99999": port "99999": expected 0 to 65535`},
	{"serve --listen 10.0.0.1:x:y", "expected a port such as :5202, an address, or both"},
	{"serve --iperf3 :x", ", or off"},
	{"check nolist.yaml", `settings: expected a list of items such as - {host: …, sysctl: {…}}, found a mapping`},
	{"check nolist.yaml", `flows: expected a list of items such as - {from: …, to: …}, found a mapping`},
	{"check iface.yaml",
		`no host "b.eth0": it is an interface; expected b, and destination: 10.0.0.2 for that interface`},
	{"check iface.yaml", `no host "a.eth0": it is an interface; expected a, and source: 10.0.0.1 for that interface`},
	{"check asinip.yaml", `unknown key "dev"; did you mean "interface"?`},
	{"check asinip.yaml", `unknown key "src"; did you mean "source"?`},
	{"check elsewhere.yaml", `10.0.1.9 is not an address of "b": expected 10.0.0.2 or 10.0.0.3` + "\n"},
	// Files.
	{"check tab.yaml", "tab.yaml:3:1: tab: indent with spaces"},
	{"tune nas.yaml", "linerate run nas.yaml"},
	{"run blog.conf", "linerate tune blog.conf"},
	{"run nas", "did you mean ./nas.yaml?"},
	{"check ./nas", "did you mean ./nas.yaml?"},
	{"tune blog", "did you mean ./blog.conf?"},
	{"run arp-flux --out nas.yaml",
		"write in nas.yaml: not a directory: nothing was run; --out names another directory"},
	{"tune blog.conf --rate 1gbit --out nas.yaml",
		"write in nas.yaml: not a directory: nothing was run; --out names another directory"},
	{"tune blog.conf --rate 1gbit --keep nas.yaml/90.conf",
		"--keep nas.yaml/90.conf: write in nas.yaml: not a directory"},
	{"tune blog.conf --rate 1gbit --keep none/90.conf", "--keep none/90.conf: stat none: no such file or directory"},
	{"measure https://nas/ --tls off", "--tls off with a URL of https://: expected http://"},
	{"measure http://nas/ --tls full", "--tls full with a URL of http://: expected https://"},
	{"serve --token .", "--token .: a directory; expected a file"},
}

// arguments are those of a line of a test.
func arguments(line string) []string {
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "␣", " ")
	}
	return args
}

// wrongFiles are the files of wrongLines, in the current directory.
func wrongFiles(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"nas.yaml": "study: nas\ntopology:\n  hosts: {a: {}}\nworkload: {}\n",
		"elsewhere.yaml": "study: e\ntopology:\n  hosts:\n    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}\n" +
			"    b: {interfaces: {eth0: {addresses: [10.0.0.2/24, 10.0.0.3/24]}}}\n  links: [{from: a, to: " +
			"b}]\nworkload: {flows: [{from: a, to: b, destination: 10.0.1.9}]}\n",
		"nolist.yaml": "study: n\ntopology:\n  hosts: {a: {interfaces: {eth0: {}}}, b: {interfaces: {eth0: {}}}}\n " +
			" links: [{from: a, to: b}]\n" +
			"workload: {flows: {from: a, to: b}}\nfactors: {f: {levels: {x: {settings: {host: a, sysctl: " +
			"{net.ipv4.tcp_sack: 0}}}}}}\n",
		"iface.yaml": "study: i\ntopology:\n  hosts:\n    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}\n   " +
			" b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}\n  links: [{from: a, to: b}]\nworkload: {flows: " +
			"[{from: a.eth0, to: b.eth0}]}\n",
		"asinip.yaml": "study: r\ntopology:\n  hosts: {a: {interfaces: {eth0: {}}, routes: [{to: default, dev: " +
			"eth0, src: 10.0.0.1}]}, b: {interfaces: {eth0: {}}}}\n  links: [{from: a, to: b}]\nworkload: {flows: " +
			"[{from: a, to: b}]}\n",
		"arp.txt": "Address                  HWtype  HWaddress           Flags Mask            " +
			"Iface\n192.168.1.15             ether   00:08:9b:c8:c4:31   C                     eth1\n",
		"hosts.yaml": "hosts:\n  a-long-name-of-a-host-[01-03].a-domain.example.org: {rack: r1, machine: " +
			"hypervisor-17, rate: 25G, addresses: \"2001:db8:1234:5678:9abc:def0:1234:[1-3]\", labels: {a: b}}\n" +
			"groups: {a-group-with-a-name: {hosts: \"a*\"}}\n",
		"ansible.ini": "[web]\nweb1 ansible_connection=network_cli\nweb2 ansible_become=yes " +
			"ansible_ssh_common_args='-o ProxyCommand=/usr/local/bin/connect-through-the-proxy'\n",
		"wrong.txt": "[a\na host that is none\nb[1-\n",
		"tab.yaml":  "study: nas\ntopology:\n\thosts:\n",
		"blog.conf": "# for 10 Gbit/s\nnet.core.rmem_max = 4194304\n",
		"tables.txt": "brik1:~# arp -n\n192.168.1.15 ether 00:08:9b:c8:c4:31 C eth1\n192.168.1.16 ether " +
			"00:08:9b:c8:c4:32 C eth1\n192.168.1.17 ether 00:08:9b:c8:c4:32 C eth1\nbrik2:~# arp -n\n192.168.1.15 " +
			"ether 00:08:9b:c8:c4:32 C eth1\na line that is of no known form and rather long, as the banner of a " +
			"switch may be at its login\n",
		"host.json": `{"schema":"linerate.snapshot/v1","over_s":3,"environment":{"host":"nas"},"reading":{"host":"nas","snapshot":{"interfaces":[{"interface":"enp3s0f0np0","mac":"02:00:00:00:00:01","mtu":1500,"up":true,"addresses":["192.0.2.1/24"]}],"routes":[{"table":254,"to":"198.51.100.0/24","text":"blackhole 198.51.100.0/24 proto static metric 1024"}]},` +
			`"begin":{"interfaces":[{"interface":"enp3s0f0np0"}]},"end":{"began_ns":3000000000,"interfaces":[{"interface":"enp3s0f0np0","rx_dropped":5000,"rx_errors":70,"rx_crc_errors":70,"at_ns":3000000000}],"snmp":{"TcpExt.ListenOverflows":7}}},` +
			`"state":{"parameters":{"net.ipv4.tcp_window_scaling":"0","net.ipv4.tcp_rmem":"4096 65536 ` +
			`262144"},"kernel_drops":{"lost":3,"rows":[{"reason":"IPV6_NDISC_NS_OTHERHOST","interface":"enp3s0f0np0","direction":"rx","protocol":"IPv6 ICMPv6","place":"__netif_receive_skb_list_core","packets":4000},{"reason":"NETFILTER_DROP","direction":"tx","packets":40}]},` +
			`"parts":[{"part":"parameters"},{"part":"nics","missing":"open ethtool: operation not permitted"}]}}`,
		"top.jsonl": `{"schema":"linerate.top/v1","host":"nas-with-a-long-name.example.org","taken":"2026-03-01T14:02:31Z","window_s":1,"interfaces":[{"interface":"enp3s0f0np0","up":true,"rx_bps":9.4e9,"rx_pps":812345,"rx_limit_bps":1e10,"rx_share":0.957,"drops_per_s":12}],"cpus":[{"cpu":-1,"user":0.5,"softirq":0.4}],` +
			`"flows":[{"local":"[2001:db8:1234:5678:9abc:def0:1234:5678]:443","remote":"[2001:db8:1234:5678:9abc:def0:1234:5679]:50000","state":"ESTAB","tx_bps":1e9,"rtt_us":310,"limited_by":"congestion window"}],` +
			`"findings":[{"id":"ring-overrun","host":"nas","confidence":"certain","summary":"enp3s0f0np0 dropped ` +
			`packets because the host did not empty its receive ring in time"}]}` + "\n",
		"later.json": `{"schema":"linerate.snapshot/v1","over_s":3,"environment":{"host":"nas"},"reading":{"host":"nas","snapshot":{"interfaces":[{"interface":"enp3s0f0np0","mtu":9000,"up":true,"addresses":["192.0.2.1/24","2001:db8:1234:5678:9abc:def0:1234:5678/64"]}]}},"state":{"parameters":{"net.ipv4.tcp_rmem":"4096 131072 6291456"},"parts":[]}}`,
	} {
		if err := os.WriteFile(filepath.Join(".", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMessages: what people get wrong is answered with what is right.
func TestMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(notebook.Variable, filepath.Join(t.TempDir(), "none.db"))
	wrongFiles(t)
	for _, c := range wrongLines {
		args := arguments(c.line)
		var errs strings.Builder
		status := Main(args, strings.NewReader(""), io.Discard, &errs)
		if status != ExitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d, %q; want %q", c.line, status, errs.String(), c.want)
		}
		for _, leak := range []string{"strconv.", "pflag", "invalid syntax"} {
			if strings.Contains(errs.String(), leak) {
				t.Errorf("%s: %q", c.line, errs.String())
			}
		}
	}
}

// TestBudgetCommands: where a budget ended a run, its text and its command name the same budget,
// and nothing is attached to a command.
func TestBudgetCommands(t *testing.T) {
	r := &record.Run{ID: "tune-7", Status: record.StatusBudget, DurationS: 480, Design: record.Design{Replicates: 8,
		BudgetS: 480}}
	for block := 1; block <= 3; block++ {
		r.Trials = append(r.Trials, record.Trial{Block: block, Treatment: "as it is"})
	}
	f := tuneFlags{}
	f.flags = newTuneCommand(streams{}).Flags()
	const command = "linerate run --resume tune-7 --budget 24m"
	if text := stats.Unjudged(r).Text(); !strings.HasSuffix(text, "; "+command+" continues it") {
		t.Errorf("%q", text)
	}
	if text := f.continueCommand(r); text != command+"; linerate tune --run tune-7" {
		t.Errorf("%q", text)
	}
	r.Proven = &record.Proven{Run: "tune-8"}
	if text := f.continueCommand(r); text != "" {
		t.Errorf("its settings are proven and kept: %q", text)
	}
}

// TestProofInDoubt: where the run that proved a list failed a trust check, tune and fix say so by
// its name, though the run that tried its settings one by one failed none.
func TestProofInDoubt(t *testing.T) {
	tried := &record.Run{ID: "tune-7", Trials: []record.Trial{{Order: 1, Block: 1}}}
	proof := &record.Run{ID: "tune-8", Trials: []record.Trial{{Order: 1, Block: 1}, {Order: 2, Block: 1},
		{Order: 3, Block: 2}}, Trust: []record.Check{{Check: "steady", Trial: 2}}}
	d := fixFlags{}.document(&remedy.Fix{Name: "the list", Proof: proof.ID}, tried, proof)
	if want := "its proof tune-8 is in doubt: 1 of 3 trials failed a trust check (steady)"; d.Doubt != want {
		t.Errorf("fix: %q, want %q", d.Doubt, want)
	}
	if d := (fixFlags{}).document(&remedy.Fix{Name: "the list", Proof: proof.ID}, tried); d.Doubt != "" {
		t.Errorf("fix: %q", d.Doubt)
	}
	shown := present.Tune(&record.Tune{Run: tried.ID, Answer: "it helps."}, "list.conf",
		[]*record.Run{tried, proof}, nil)
	if want := "In doubt: of run tune-8, 1 of 3 trials failed a trust check (steady): linerate report tune-8."; !slices.Contains(shown.Warnings, want) {
		t.Errorf("tune: %q", shown.Warnings)
	}
}

// TestTuneWithoutPage: where the page of a run that was tried cannot be written, the answer is
// printed all the same, and the error says how its page is made.
func TestTuneWithoutPage(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(notebook.Variable, filepath.Join(t.TempDir(), "n.db"))
	wrongFiles(t)
	var both strings.Builder
	s := streams{in: strings.NewReader(""), out: &both, err: &both}
	cmd := newTuneCommand(s)
	f := tuneFlags{trialFlags: trialFlags{out: "nas.yaml", flags: cmd.Flags()}}
	run := showtest.Ablated()
	cmd.SetContext(t.Context())
	var made written
	f.trying(cmd, s, &made).Finished(run)
	err := f.show(t.Context(), s, &record.Tune{Run: run.ID, Answer: "The list helps."}, "blog.conf",
		[]*record.Run{run}, made)
	if want := "linerate report " + run.ID + " --out DIR"; err == nil || !strings.Contains(err.Error(), want) ||
		len(made.pages) > 0 {
		t.Errorf("%v, pages %q; want %q", err, made.pages, want)
	}
	if !strings.Contains(both.String(), "The list helps.") {
		t.Errorf("printed %q", both.String())
	}
}

// TestPortInUse: the next port is proposed, and never linerate's own for iperf3.
func TestPortInUse(t *testing.T) {
	l, port := listening(t)
	defer l.Close()
	var errs strings.Builder
	if status := Main([]string{"serve", "--iperf3", "off", "-p", port}, strings.NewReader(""), io.Discard,
		&errs); status != ExitFailed || !strings.Contains(errs.String(), "another port: --listen :") {
		t.Errorf("status %d, %q", status, errs.String())
	}
}

// TestFreePort: a port that is proposed is one on which nothing listens, and no program's default.
func TestFreePort(t *testing.T) {
	l, port := listening(t)
	defer l.Close()
	taken, _ := strconv.Atoi(port)
	if got := freePort("127.0.0.1", taken-1); got == port {
		t.Errorf("proposed port %s, which is in use", got)
	}
	for _, of := range []int{5200, 5201} {
		if got := freePort("127.0.0.1", of); got == "5201" || got == "5202" {
			t.Errorf("after %d: %s", of, got)
		}
	}
	if got := freePort("127.0.0.1", 65535); got != "0" {
		t.Errorf("after the last: %s", got)
	}
}

// TestOwnPort: where linerate itself has the port for iperf3 clients, that is said; otherwise
// the process that has it is named.
func TestOwnPort(t *testing.T) {
	l, port := listening(t)
	defer l.Close()
	f := iperf3ServeFlags{listen: "127.0.0.1:" + port}
	for _, own := range [][]serve.Listener{nil, {{TCPListener: l.(*net.TCPListener)}}} {
		var said strings.Builder
		f.open(t.Context(), &said, nil, false, own)
		if got := strings.Contains(said.String(),
			port+" is linerate's own port here: choose another for them, such as --iperf3 :"); got != (own != nil) ||
			strings.Contains(said.String(), fmt.Sprint("pid ", os.Getpid())) == got {
			t.Errorf("with %d own listeners: %q", len(own), said.String())
		}
	}
}

// TestListenAt: a port, an address, or both.
func TestListenAt(t *testing.T) {
	for text, want := range map[string]string{
		"5300": ":5300", ":5300": ":5300", ":0": ":0", "10.0.0.1": "10.0.0.1:5202", "10.0.0.1:5300": "10.0.0.1:5300",
		"fd00::1": "[fd00::1]:5202", "[fd00::1]:53": "[fd00::1]:53",
		":99999": "", "99999": "", "-1": "", "": "", "10.0.0.1:x": "",
	} {
		if got, err := listenAt(text, "5202"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestNoServer: what failed and what to do are a line each, and nothing else is said.
func TestNoServer(t *testing.T) {
	l, port := listening(t)
	l.Close()
	t.Setenv("LINERATE_NOTEBOOK", filepath.Join(t.TempDir(), "n.db"))
	for _, c := range []struct{ flag, start string }{{"--quiet", "linerate serve"}, {"--iperf3", "iperf3 -s"}} {
		var errs strings.Builder
		status := Main([]string{"measure", "127.0.0.1:" + port, c.flag}, strings.NewReader(""), io.Discard, &errs)
		want := "linerate: reaching 127.0.0.1:" + port +
			": connection refused: nothing listens there, or a firewall rejects connections to this port\nStart " +
			c.start + " on that host, or check the port and the firewall\n"
		if status != ExitFailed || !strings.HasSuffix(errs.String(), want) || strings.Contains(errs.String(), "bus") {
			t.Errorf("%s: status %d, %q; want %q", c.flag, status, errs.String(), want)
		}
	}
}

// TestEquivalents: what is named in place of an unknown flag is there, and the flag is not.
func TestEquivalents(t *testing.T) {
	root, tried := Command(), 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for other, here := range equivalents[cmd.Name()] {
			tried++
			if cmd.Flags().Lookup(other) != nil || len(other) == 1 && cmd.Flags().ShorthandLookup(other) != nil {
				t.Errorf("%s has --%s itself", cmd.Name(), other)
			}
			words := strings.Fields(here)
			in := cmd
			if words[0] == "linerate" {
				if in, _, _ = root.Find(words[1:2]); in == root {
					t.Errorf("%q: no such verb", here)
				}
			}
			for _, word := range words {
				if name, long := strings.CutPrefix(word, "--"); long &&
					in.Flags().Lookup(strings.Trim(name, ",")) == nil {
					t.Errorf("%s: %q: no such flag", cmd.Name(), here)
				}
			}
		}
		for _, verb := range cmd.Commands() {
			visit(verb)
		}
	}
	if visit(root); tried < 50 {
		t.Errorf("%d were tried", tried)
	}
}
