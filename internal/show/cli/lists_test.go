package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/studies"
)

// sourcesOfLists is what each list's source shows: every key, in its order, with keys that
// it sets twice. A key whose value a source does not show would stand here, and as a
// comment in the list, as "KEY: value not shown".
//
// The talk is "Open source at 10 Gbit/s" (2012); ESnet's list is that of
// fasterdata.es.net for hosts at 10 Gbit/s and paths of up to 100 ms; the profile is
// that of tuned at commit 2bfa442 with net.core.somaxconn of throughput-performance.
var sourcesOfLists = map[string][]string{
	"linux-10g": {
		"net.core.rmem_max 16777216", "net.core.wmem_max 16777216", "net.core.optmem_max 524287",
		"net.core.rmem_default 524287", "net.core.wmem_default 524287",
		"net.ipv4.tcp_mem 10000000 10000000 10000000", "net.ipv4.tcp_rmem 10000000 10000000 10000000",
		"net.ipv4.tcp_wmem 10000000 10000000 10000000", "net.ipv4.tcp_syncookies 1",
		"net.ipv4.tcp_mem 50576 64768 98152", "net.core.netdev_max_backlog 50000",
	},
	"xenserver-10g": {
		"kernel.shmmax 4294967295", "kernel.shmall 268435456", "fs.aio-max-nr 444416",
		"net.core.rmem_max 16777216", "net.core.wmem_max 16777216",
		"net.ipv4.tcp_rmem 4096 87380 16777216", "net.ipv4.tcp_wmem 4096 65536 16777216",
		"net.ipv4.tcp_syncookies 1", "net.ipv4.tcp_mem 50576 64768 98152", "net.core.netdev_max_backlog 10000",
	},
	"freebsd-10g": {
		"kern.ipc.nmbclusters 262144", "kern.ipc.maxsockbuf 4194304", "hw.intr_storm_threshold 9000",
		"kern.ipc.nmbjumbop 262144",
	},
	"freebsd-10g-loader": {`ixgbe_load="YES"`, "hw.ixgbe.txd 4096", "hw.ixgbe.rxd 4096"},
	"openbsd-10g": {
		"ddb.panic 0", "kern.bufcachepercent 90", "machdep.allowaperture 2", "net.inet.ip.forwarding 1",
		"net.inet.ip.ifq.maxlen 512", "net.inet.ip.mtudisc 0", "net.inet.tcp.rfc3390 2", "net.inet.tcp.mssdflt 1440",
		"net.inet.udp.recvspace 231072", "net.inet.udp.sendspace 231072",
	},
	"esnet-10g": {
		"net.core.rmem_max 67108864", "net.core.wmem_max 67108864", "net.ipv4.tcp_rmem 4096 87380 33554432",
		"net.ipv4.tcp_wmem 4096 65536 33554432", "net.ipv4.tcp_mtu_probing 1", "net.core.default_qdisc fq",
	},
	"tuned-network-throughput": {
		"net.ipv4.tcp_notsent_lowat 131072", "net.ipv4.tcp_slow_start_after_idle 0",
		"net.ipv4.tcp_rmem 4096 131072 16777216", "net.ipv4.tcp_wmem 4096 16384 16777216", "net.core.somaxconn >2048",
	},
}

// TestLists: a published list has exactly the keys and values of its source.
func TestLists(t *testing.T) {
	names := studies.ListNames()
	if len(names) != len(sourcesOfLists) {
		t.Errorf("lists %v, of which the sources of %d are known", names, len(sourcesOfLists))
	}
	for _, name := range names {
		text, err := studies.List(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		f := settingfile.Read(name, text, "")
		for _, a := range f.Apart {
			if a.Kind == settingfile.Wrong {
				t.Errorf("%s:%d: %s: %s", name, a.Line, a.Text, a.Why)
			}
			if strings.Contains(a.Text, "_load") { // loads a module, and sets no parameter
				got = append(got, a.Text)
			}
		}
		for _, l := range f.Lines {
			got = append(got, fmt.Sprintf("%s %s%s", l.Key, l.Bound, l.Value))
		}
		for line := range strings.Lines(string(text)) {
			if key, found := strings.CutSuffix(strings.TrimSpace(line), ": value not shown"); found {
				got = append(got, strings.TrimSpace(strings.TrimPrefix(key, "#"))+": value not shown")
			}
		}
		if !slices.Equal(got, sourcesOfLists[name]) {
			t.Errorf("%s has\n%s\nits source\n%s", name, strings.Join(got, "\n"),
				strings.Join(sourcesOfLists[name], "\n"))
		}
	}
}

// TestPublishedTables: every table is read, and its intervals average to the figure
// that its source gives for the whole.
func TestPublishedTables(t *testing.T) {
	whole := map[string]float64{
		"ten-gig-linux: the Linux list": 9.49e9, "ten-gig-xenserver: as it is": 9.20e9,
		"ten-gig-xenserver: the XenServer list": 9.40e9,
		"freebsd-10g: the FreeBSD list":         9100.6e6, "arp-flux: kernel defaults": 142 * 8e6,
		"arp-flux: static ARP entries": 247 * 8e6,
	}
	for _, name := range builtinTables() {
		text, err := studies.Published.ReadFile("published/" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		table, err := record.ParsePublished(name, string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		sums, counts := map[string]float64{}, map[string]float64{}
		for _, point := range table.Series[0].Points {
			sums[name+": "+point.Level] += point.Bps
			counts[name+": "+point.Level]++
		}
		for level, sum := range sums {
			if want, known := whole[level]; known && math.Abs(sum/counts[level]/want-1) > 0.001 {
				t.Errorf("%s: %g bit/s on average, its source says %g", level, sum/counts[level], want)
			}
			delete(whole, level)
		}
	}
	if len(whole) > 0 {
		t.Errorf("no tables with %v", whole)
	}
}
