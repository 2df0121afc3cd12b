package pasted

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHostileTexts: texts of as many different things as they may have are read in a time that
// does not grow with the square of their size.
func TestHostileTexts(t *testing.T) {
	for _, row := range []string{"2: e%d: <UP> mtu 1\n", "Pause parameters for e%d:\nRX: on\n",
		"\nqdisc fq %x: dev e%[1]d root\n", "%d:\tfrom all lookup t%[1]d\n", "\n10.1.0.0/16 dev e%d metric %[1]d\n",
		"f%d: on [fixed]\n", "ESTAB 0 1 10.0.0.1:%d 10.0.0.2:%[1]d\n",
		bondBanner + "\nSlave Interface: e%d\n", " %d: 5 6 PCI-MSI 1-edge e%[1]d-rx-0\n",
		"/sys/class/net/e%d/statistics/rx_errors:1\n/sys/class/net/e%[1]d/queues/rx-%[1]d/rps_cpus:f\n",
		"%02x:00.0 Ethernet controller: x\n\t\tLnkCap: Port #0, Speed 8GT/s, Width x8\n\t\tLnkSta: Speed 8GT/s, " +
			"Width x8\n",
		"Station 02:00:00:00:00:01 (on w%d)\n\tsignal: -60 dBm\n",
		"Nov 29 10:00:00 h%d kernel: e%[1]d: link down\n", "[ %d.5] e%[1]d: link down\n", "Chain c%d (1 references)\n",
		"PING p%d (192.0.2.%[1]d) 56(84) bytes of data.\n", "/proc/sys/net/ipv4/conf/e%d/rp_filter:1\n",
		"Interface:    e%d, via: LLDP\n", "-A c%d -j DROP\n", "table ip t%d {\n", "\n$ ps a%d\n\nx\n",
		"{\n\"a\": %d\n",
		"e%d: flags=8843<UP> mtu 1500\n\tinet6 2001:db8::%[1]x prefixlen 64\n\tlaggport: f%[1]d flags=0<>\n",
		"10.0.%d.0 10.0.0.1 255.255.255.0 UG %[1]d 0 0 eth0\n",
		"[{\"ifindex\":1%d,\"ifname\":\"e%[1]d\",\"mtu\":1500,\"flags\":[\"UP\"]}]\n",
		"br0\t\t8000.0200478aa2e8\tno\tf%d\n"} {
		took := func(bytes int) time.Duration {
			var b strings.Builder
			b.WriteString("Features for eth0:\n")
			for n := 0; b.Len() < bytes; n++ {
				fmt.Fprintf(&b, row, n)
			}
			began := cpuTime()
			if _, err := Parse(b.String()); err != nil && !strings.Contains(err.Error(), "could be") {
				t.Fatal(err)
			}
			return cpuTime() - began
		}
		small, large := took(1<<15), took(1<<18)
		t.Logf("%q: %v, %v", row, small, large)
		if large > 24*small && large > time.Second/2 {
			t.Errorf("%q: 8 times as many take %v instead of %v", row, large, small)
		}
	}
}

// TestManyLines: lines beyond what is kept of a machine are not read, and counted so.
func TestManyLines(t *testing.T) {
	var b strings.Builder
	b.WriteString("$ ip neigh\n")
	for n := range mostRows + 7 {
		fmt.Fprintf(&b, "10.%d.%d.%d dev eth0 lladdr 02:00:00:00:00:01 STALE\n", n>>16, n>>8&255, n&255)
	}
	p, err := Parse(b.String())
	if err != nil || p.Lost != 7 || len(p.Machines) != 1 {
		t.Errorf("%d lines not read of %d, %d machines, %v; want 7", p.Lost, p.Lines, len(p.Machines), err)
	}
}

// TestTimeWithoutWords: a time with nothing but a form feed behind it is no row of sar.
func TestTimeWithoutWords(t *testing.T) {
	for _, before := range []string{"", "$ sar -n DEV\n", "12:00:00 CPU %usr %idle\n"} {
		_, _ = Parse(before + strings.Repeat("12:00:01 \f\n12:00:01 AM \f\n", 3))
	}
}

// TestShortWords: samples whose words have a letter each, one column after the other, are read without a panic. Numbers
// stay, so that rows are still rows.
func TestShortWords(t *testing.T) {
	files, err := filepath.Glob("testdata/samples/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for column := range 16 {
			lines := strings.Split(string(text), "\n")
			for i, line := range lines {
				words := strings.Fields(line)
				if _, is := startOf(lineOf(line, 0)); is || column >= len(words) {
					continue
				}
				if word := words[column]; strings.Trim(word, "0123456789.%") != "" {
					lines[i] = strings.Replace(line, word, word[:1], 1)
				}
			}
			_, _ = Parse(strings.Join(lines, "\n"))
		}
	}
}
