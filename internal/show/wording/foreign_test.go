package wording

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/pasted"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
)

// ofLinux matches what only Linux has, in commands and in the names of parameters and counters.
var ofLinux = regexp.MustCompile(`\bethtool\b|\bip (?:link|route|addr|address|neigh|rule|nexthop|-\w)|\btc -` +
	`|\btc qdisc` +
	`|\bss -|\bnstat\b|\bnet\.(?:ipv4|ipv6|core)\.|/proc/|/sys/|TcpExt|rx_\w+_errors`)

// bsdSample matches the names of samples that have no machine with Linux.
var bsdSample = regexp.MustCompile(`(?:freebsd|openbsd|macos|-bsd)[\w-]*\.txt$`)

var systems = []string{freeBSD, openBSD, macOS, netBSD, dragonFly, opsystem.OtherBSD}

// TestForeignSamples: what doctor says of a text of FreeBSD, OpenBSD or macOS proposes nothing of Linux.
func TestForeignSamples(t *testing.T) {
	files, err := filepath.Glob("../../model/pasted/testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	found, read := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pasted.Parse(string(text))
		if err != nil {
			continue // only lines without meaning
		}
		for _, m := range p.Machines {
			system := opsystem.Foreign(m.Host.OS)
			if system == "" {
				if bsdSample.MatchString(file) {
					t.Errorf("%s: the operating system of %s is unknown", file, m.Reading.Host)
				}
				continue
			}
			read[system] = true
			e := Evaluation(diagnose.Hosts([]netstate.HostSnapshot{m}))
			for _, f := range e.Findings {
				if found[f.ID] = true; len(f.Settings) > 0 || f.System != system {
					t.Errorf("%s: %s is for %q, with settings %+v", file, f.ID, f.System, f.Settings)
				}
				for _, line := range slices.Concat(f.Fix, f.Evidence, []string{f.Reference}) {
					if ofLinux.MatchString(line) || strings.Contains(line, "Linux") {
						t.Errorf("%s: %s says to %s: %s", file, f.ID, system, line)
					}
				}
			}
			var lacking []string
			for _, u := range e.Unevaluated {
				if u.NotPasted {
					lacking = append(lacking, u.Part)
				}
			}
			for _, line := range PartCommands(system, lacking) {
				if ofLinux.MatchString(line) {
					t.Errorf("%s: %s is asked for %s", file, system, line)
				}
			}
			if _, parts := e.Unjudged(); slices.Contains(parts, "softnet") {
				t.Errorf("%s: what %s cannot print is called not judged: %q", file, system, parts)
			}
		}
	}
	for _, system := range []string{freeBSD, openBSD, macOS, opsystem.OtherBSD} {
		if !read[system] {
			t.Errorf("no sample of %s", system)
		}
	}
	for _, id := range []string{"network-buffers-denied", "network-buffers-delayed", "network-buffers-short",
		"input-queue-drop", "transmit-ring-stalled", "interrupts-of-one-queue", "accept-queue-full", "listen-overflow",
		"half-duplex", "collisions", "ring-overrun", "tx-dropped"} {
		if !found[id] {
			t.Errorf("no sample has %s", id)
		}
	}
}

// TestForeignAdvice: whatever is found on a host of another system, nothing of Linux is proposed.
func TestForeignAdvice(t *testing.T) {
	for _, in := range append(inputs[input](t, "inputs.jsonl.gz"), snapshots(t)...) {
		if in.Trial != nil || in.Run != nil {
			continue
		}
		for _, system := range systems {
			was := map[string]bool{} // read; of another machine that has a fault the system is not known
			for i := range in.Hosts {
				in.Hosts[i].Host.OS, was[in.Hosts[i].Reading.Host] = system, true
			}
			for _, f := range Evaluation(diagnose.Hosts(in.Hosts)).Findings {
				if !was[f.Host] {
					continue
				}
				if f.System != system || len(f.Settings) > 0 {
					t.Fatalf("%s of %s is for %q, with %+v", f.ID, system, f.System, f.Settings)
				}
				for _, line := range append(f.Fix, f.Reference) {
					if ofLinux.MatchString(line) || strings.Contains(line, "Linux") {
						t.Errorf("%s says to %s: %s", f.ID, system, line)
					}
				}
			}
		}
	}
	for _, system := range systems {
		var all []string
		for _, p := range parts {
			all = append(all, p.id)
		}
		for _, line := range PartCommands(system, all) {
			if ofLinux.MatchString(line) {
				t.Errorf("%s is asked for %s", system, line)
			}
		}
	}
}

// TestForeignWords: the advice for a finding is that of the system of its host.
func TestForeignWords(t *testing.T) {
	for _, test := range []struct{ id, system, says string }{
		{"listen-overflow", freeBSD, "kern.ipc.soacceptqueue"},
		{"listen-overflow", openBSD, "kern.somaxconn"},
		{"listen-overflow", macOS, "kern.ipc.somaxconn"},
		{"listen-overflow", opsystem.OtherBSD, "have the program accept faster"},
		{"network-buffers-denied", freeBSD, "kern.ipc.nmbclusters"},
		{"checksum-errors", freeBSD, "ifconfig IF -rxcsum"},
		{"checksum-errors", openBSD, "then check the routers"},
		{"input-queue-drop", openBSD, "net.inet.ip.ifq.maxlen"},
		{"input-queue-drop", freeBSD, "net.isr.maxqlimit"},
		{"network-buffers-denied", openBSD, "kern.maxclusters"},
		{"autoneg-off", freeBSD, "ifconfig igb0 media autoselect"},
		{"collisions", macOS, "ifconfig igb0 media autoselect"},
		{"interface-errors", freeBSD, "sysctl dev.igb.0 "},
	} {
		f := Worded(record.Finding{ID: test.id, Host: "h", System: test.system,
			About: record.Subject{Interface: "igb0"},
			Facts: []fact.Fact{{Host: "h", Is: fact.Counter{Name: netstate.ClustersDenied, Grew: 1}}}}, true)
		if fix := strings.Join(f.Fix, "\n"); !strings.Contains(fix, test.says) {
			t.Errorf("%s of %q: %q, want %q", test.id, test.system, fix, test.says)
		}
	}
}
