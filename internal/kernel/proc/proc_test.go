package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"linerate/internal/model/netstate"
)

// procOf unpacks a /proc tree from testdata; the name contains its kernel.
func procOf(t *testing.T, name string) Proc {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := txtar.Write(archive, root); err != nil {
		t.Fatal(err)
	}
	return Proc{Root: root}
}

func TestProcOfLinux4_18(t *testing.T) {
	p := procOf(t, "proc-4.18.txtar")
	cpus, err := p.CPUTimes()
	if err != nil || len(cpus) != 3 {
		t.Fatalf("%+v, %v", cpus, err)
	}
	if want := (netstate.CPUTimes{CPU: -1, User: 1.2, Nice: 0.2, System: 3, Idle: 40.5, IRQ: 0.06, SoftIRQ: 0.7,
		Steal: 0.08}); cpus[0] != want {
		t.Errorf("sum: %+v, want %+v", cpus[0], want)
	}
	if n := p.CPUs(); n != 2 {
		t.Errorf("%d CPUs are online, want 2", n)
	}
	if cpus[1].CPU != 0 || cpus[2].CPU != 2 || cpus[2].System != 1 {
		t.Errorf("CPUs: %+v", cpus)
	}
	softnet, err := p.Softnet()
	if err != nil || len(softnet) != 2 {
		t.Fatalf("%+v, %v", softnet, err)
	}
	if softnet[0] != (netstate.SoftnetCounters{CPU: 0, Processed: 255, Dropped: 1, Squeezed: 2}) ||
		softnet[1] != (netstate.SoftnetCounters{CPU: 1, Processed: 10}) {
		t.Errorf("softnet: %+v", softnet)
	}
	softirqs, err := p.Softirqs()
	if err != nil || len(softirqs) != 3 || softirqs["NET_RX"] != 300 || softirqs["HI"] != 3 {
		t.Errorf("softirqs: %v, %v", softirqs, err)
	}
	snmp, err := p.SNMP()
	if err != nil || snmp["Tcp.MaxConn"] != -1 || snmp["Tcp.RetransSegs"] != 77 ||
		snmp["TcpExt.IPReversePathFilter"] != 12 {
		t.Errorf("snmp: %v, %v", snmp, err)
	}
	// Differences of counters stay right even beyond 2^63.
	if snmp["IpExt.InOctets"] != -1 || len(snmp) != 8 {
		t.Errorf("snmp: %v", snmp)
	}
}

func TestProcOfLinux6_18(t *testing.T) {
	p := procOf(t, "proc-6.18.txtar")
	cpus, err := p.CPUTimes()
	if err != nil || len(cpus) != 3 || cpus[0].CPU != -1 || cpus[2].CPU != 1 {
		t.Fatalf("%+v, %v", cpus, err)
	}
	var sum float64
	for _, c := range cpus[1:] {
		sum += c.User
	}
	if sum < cpus[0].User-0.1 || sum > cpus[0].User+0.1 {
		t.Errorf("CPUs' user time adds up to %v, the sum says %v", sum, cpus[0].User)
	}
	softnet, err := p.Softnet()
	if err != nil || len(softnet) != 2 || softnet[1].CPU != 1 || softnet[1].Processed == 0 {
		t.Errorf("softnet: %+v, %v", softnet, err)
	}
	softirqs, err := p.Softirqs()
	if err != nil || len(softirqs) != 10 || softirqs["NET_RX"] == 0 {
		t.Errorf("softirqs: %v, %v", softirqs, err)
	}
	snmp, err := p.SNMP()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Ip.Forwarding", "Tcp.RetransSegs", "Tcp.MaxConn", "TcpExt.ArpFilter",
		"TcpExt.IPReversePathFilter", "IpExt.InOctets", "Udp.RcvbufErrors", "Ip6.InReceives", "Icmp6.InType136",
		"Udp6.RcvbufErrors", "UdpLite6.InDatagrams"} {
		if _, found := snmp[name]; !found {
			t.Errorf("no %s", name)
		}
	}
}

func TestProcSaysWhatIsWrong(t *testing.T) {
	for what, parse := range map[string]func() error{
		"no line of a CPU": func() error { _, err := procWith(t, "stat", []byte("intr 1\n")).CPUTimes(); return err },
		"couldn't parse \"cpu 1 2 x": func() error {
			_, err := procWith(t, "stat", []byte("cpu 1 2 x 4 5 6 7 8\n")).CPUTimes()
			return err
		},
		"HI: 1 counts for 2 CPUs": func() error { _, err := parseSoftirqs([]byte("CPU0 CPU1\nHI: 1 x\n")); return err },
		"no line with a kind":     func() error { _, err := parseSoftirqs([]byte("CPU0\n")); return err },
		"detected 1 columns": func() error {
			_, err := procWith(t, "net/softnet_stat", []byte("1\n")).Softnet()
			return err
		},
		"softnet_stat: empty": func() error {
			_, err := procWith(t, "net/softnet_stat", nil).Softnet()
			return err
		},
		"parsing \"x\"": func() error {
			_, err := procWith(t, "net/softnet_stat", []byte("1 x 3 4 5 6 7 8 9\n")).Softnet()
			return err
		},
		"2 names and 1 values": func() error {
			_, err := parseSNMP([]byte("Ip: A B\nIp: 1\n"))
			return err
		},
		"\"Udp6NoPorts\\n\": expected": func() error {
			_, err := parseSNMP6([]byte("Udp6NoPorts\n"))
			return err
		},
		"Udp6NoPorts: \"x\"": func() error {
			_, err := parseSNMP6([]byte("Udp6NoPorts x\n"))
			return err
		},
		"Ip.A: \"x\"": func() error {
			_, err := parseSNMP([]byte("Ip: A\nIp: x\n"))
			return err
		},
		filepath.FromSlash("nowhere/net/snmp"): func() error { _, err := Proc{Root: "nowhere"}.SNMP(); return err },
		"could not read \"nowhere\"":           func() error { _, err := Proc{Root: "nowhere"}.Softnet(); return err },
	} {
		if err := parse(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q: %v", what, err)
		}
	}
}

// procWith is a tree with one file.
func procWith(t *testing.T, name string, text []byte) Proc {
	t.Helper()
	p := Proc{Root: t.TempDir()}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(p.Root, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Root, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// fuzzProc seeds a fuzz test with a file of every captured tree.
func fuzzProc(f *testing.F, name string) {
	trees, err := filepath.Glob(filepath.Join("testdata", "proc-*.txtar"))
	if err != nil || len(trees) == 0 {
		f.Fatal("no captured trees", err)
	}
	for _, tree := range trees {
		archive, err := txtar.ParseFile(tree)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == name {
				f.Add(file.Data)
			}
		}
	}
}

// Parsers answer or refuse; what they answer is in order.

func FuzzParseStat(f *testing.F) {
	fuzzProc(f, "stat")
	f.Fuzz(func(t *testing.T, text []byte) {
		if list, err := procWith(t, "stat", text).CPUTimes(); err == nil && (len(list) == 0 || list[0].CPU != -1) {
			t.Error("no sum, and no error")
		}
	})
}

func FuzzParseSoftirqs(f *testing.F) {
	fuzzProc(f, "softirqs")
	fuzzProc(f, "interrupts")
	f.Fuzz(func(t *testing.T, text []byte) {
		if table, err := parseSoftirqs(text); err == nil && (len(table.rows) == 0 || len(table.cpus) == 0) {
			t.Error("nothing, and no error")
		}
		if table, err := parseCPUTable(text); err == nil && len(table.sums()) == 0 {
			t.Error("no CPU, and no error")
		}
	})
}

func FuzzParseSoftnet(f *testing.F) {
	fuzzProc(f, "net/softnet_stat")
	f.Fuzz(func(t *testing.T, text []byte) {
		if list, err := procWith(t, "net/softnet_stat", text).Softnet(); err == nil && len(list) == 0 {
			t.Error("nothing, and no error")
		}
	})
}

func FuzzParseSNMP(f *testing.F) {
	fuzzProc(f, "net/snmp")
	fuzzProc(f, "net/netstat")
	fuzzProc(f, "net/snmp6")
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, parse := range []func([]byte) (map[string]int64, error){parseSNMP, parseSNMP6} {
			values, err := parse(text)
			for name := range values {
				if err == nil && !strings.Contains(name, ".") {
					t.Errorf("%q has no group", name)
				}
			}
		}
	})
}

func TestSysctls(t *testing.T) {
	root := t.TempDir()
	s := Sysctls{Root: root}
	for path, value := range map[string]string{
		"net/ipv4/tcp_rmem": "4096\t131072\t6291456\n", "net/ipv4/conf/all/rp_filter": "0\n",
		"net/ipv4/conf/eth0.100/rp_filter": "1\n", "net/ipv4/conf/eth0/other": "2\n",
	} {
		full := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if value, err := s.Read("net.ipv4.tcp_rmem"); err != nil || value != "4096 131072 6291456" {
		t.Errorf("%q, %v", value, err)
	}
	// A dot in an interface's name is a slash in the key, as sysctl(8) has it.
	if value, err := s.Read("net.ipv4.conf.eth0/100.rp_filter"); err != nil || value != "1" ||
		InterfaceKey("eth0.100") != "eth0/100" {
		t.Errorf("%q, %v", value, err)
	}
	keys, err := s.Match("net.ipv4.conf.*.rp_filter")
	if err != nil || strings.Join(keys, " ") != "net.ipv4.conf.all.rp_filter net.ipv4.conf.eth0/100.rp_filter" {
		t.Errorf("%v, %v", keys, err)
	}
	if keys, err := s.List("net.ipv4.conf.eth0/100"); err != nil || len(keys) != 1 ||
		keys[0] != "net.ipv4.conf.eth0/100.rp_filter" {
		t.Errorf("%v, %v", keys, err)
	}
	if exists, _, err := s.Writable("net.ipv4.nothing"); exists || err != nil {
		t.Errorf("%v, %v", exists, err)
	}
	if exists, writable, err := s.Writable("net.ipv4.tcp_rmem"); !exists || !writable || err != nil {
		t.Errorf("%v, %v, %v", exists, writable, err)
	}
	for _, bad := range []string{"", "net..ipv4", "net.//.x", "../../etc/passwd", "a\x00b", "net.*.x", "/etc/passwd"} {
		if _, err := s.Read(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
		if err := s.Write(bad, "1"); err == nil {
			t.Errorf("%q was written", bad)
		}
	}
	if err := s.Write("net.ipv4.made_up", "1"); err == nil {
		t.Error("a parameter was made")
	}
	if path, err := s.path("../../x"); err == nil && !strings.HasPrefix(path, root) {
		t.Errorf("left the tree: %s", path)
	}
}

func TestMemory(t *testing.T) {
	if n, err := procWith(t, "meminfo",
		[]byte("MemTotal:       24645480 kB\nMemFree:        1 kB\n")).MemoryBytes(); err != nil || n != 24645480<<10 {
		t.Errorf("%d, %v", n, err)
	}
	for _, text := range []string{"", "MemFree: 1 kB\n", "MemTotal: much kB\n", "MemTotal: 1 MB\n"} {
		if n, err := procWith(t, "meminfo", []byte(text)).MemoryBytes(); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}
