//go:build linux && !portable

package hoststate

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/control/archive"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/show/wording"
)

// toolCommands are what is collected of a host for a ticket.
var toolCommands = []string{"ip -d addr", "ip -s -s link", "ip neigh", "ip route show table all",
	"ip -6 route show table all", "ip rule", "ip -6 rule", "ip nexthop", "bridge fdb",
	"tc -s qdisc", "ss -tinmpoa", "ss -uanmp",
	"ss -s", "nstat -az", "sysctl -a", "cat /proc/net/softnet_stat", "cat /proc/net/sockstat", "cat /proc/stat",
	"cat /etc/resolv.conf",
	"nft -a list ruleset", "ethtool eth0", "ethtool -i eth0", "ethtool -k eth0", "ethtool -l eth0", "ethtool -S eth0"}

// output is what a command printed on a host.
type output struct {
	host, command, text string
	at                  time.Time
}

// printed returns what the tools print on hosts, of which a shell executes those of each.
func (b *bench) printed(hosts []string) (list []output) {
	b.t.Helper()
	dir := b.t.TempDir()
	script := ""
	for n, command := range toolCommands {
		script += fmt.Sprintf("%s >%d 2>&1; ", command, n) // some are not supported by veth
	}
	for _, host := range hosts {
		b.in(host, func() error {
			if file := b.resolvers[host]; file != "" { // in the mount namespace of this thread
				if err := unix.Mount(file, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
					return err
				}
			}
			c := exec.CommandContext(b.t.Context(), "sh", "-c", script+"true")
			c.Dir = dir
			return c.Run()
		})
		at := time.Now()
		for n, command := range toolCommands {
			text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
			if err != nil {
				b.t.Fatal(err)
			}
			list = append(list, output{host, command, string(text), at})
		}
	}
	return list
}

// asText returns outputs as they are in a ticket, behind prompts with the time.
func asText(list []output) string {
	var text strings.Builder
	for _, o := range list {
		fmt.Fprintf(&text, "[%s] root@%s:~# %s\n%s\n", o.at.Format("15:04:05.000"), o.host, o.command, o.text)
	}
	return text.String()
}

// asArchive returns outputs as an archive in which each host has the directories of sos report.
func asArchive(t *testing.T, list []output) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, o := range list {
		name := "sos_commands/networking/" + strings.ReplaceAll(strings.ReplaceAll(o.command, " ", "_"), "/", ".")
		if file, is := strings.CutPrefix(o.command, "cat /"); is {
			name = file
		}
		err := w.WriteHeader(&tar.Header{Name: o.host + "/" + name, Mode: 0o600, Size: int64(len(o.text)),
			ModTime: o.at, Format: tar.FormatPAX}) // with fractions of seconds
		if err == nil {
			_, err = w.Write([]byte(o.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ways are how what tools print comes to linerate.
var ways = []string{"pasted text", "archives"}

// ofArchives returns the hosts of two archives, the first of which has the counters that were before.
func ofArchives(t *testing.T, before, after []output) (list []netstate.HostSnapshot) {
	t.Helper()
	var read [2][]netstate.HostSnapshot
	for i, outputs := range [][]output{before, after} {
		a, err := archive.Read(t.Context(), bytes.NewReader(asArchive(t, outputs)), "ticket.tar")
		if err != nil || a.Partly != "" {
			t.Fatalf("%v, %+v", err, a)
		}
		read[i] = pasted.ParseMembers(a.Members, "ticket.tar").Machines
	}
	for i, m := range read[1] {
		if first := read[0][i]; !m.Since(first, m.Taken.Sub(first.Taken).Seconds()) {
			t.Errorf("%s: taken at %s and %s", m.Reading.Host, first.Taken, m.Taken)
		}
		list = append(list, m)
	}
	return list
}

// byTools plants a fault, and returns what is found in what tools print before and after it acts, each way.
func byTools(b *bench, plant, act func(b *bench), hosts []string) map[string]record.Evaluation {
	b.t.Helper()
	if plant != nil {
		plant(b)
	}
	before := b.printed(hosts)
	if act != nil {
		act(b)
	}
	time.Sleep(window)
	after := b.printed(hosts)
	text, err := pasted.Parse(asText(before) + asText(after))
	if err != nil || 50*text.Lost > text.Lines {
		b.t.Errorf("%v; of %d lines %d are not read: %q", err, text.Lines, text.Lost, text.NotUnderstood)
	}
	return map[string]record.Evaluation{ways[0]: wording.Evaluation(diagnose.Hosts(text.Machines)),
		ways[1]: wording.Evaluation(diagnose.Hosts(ofArchives(b.t, before, after)))}
}

// textFaults counts what is found of the planted faults in one way.
type textFaults struct {
	found, untold int
	missed, wrong []string
}

// rates are the precision and the recall over the faults that text can show.
func (f *textFaults) rates() (precision, recall float64) {
	share := func(without int) float64 { return float64(f.found) / float64(max(1, f.found+without)) }
	return share(len(f.wrong)), share(len(f.missed))
}

// judge counts a planted fault and the findings that are at least likely beside it.
func (f *textFaults) judge(t *testing.T, way string, x fault, e record.Evaluation) {
	found := slices.ContainsFunc(e.Findings, func(found record.Finding) bool {
		return found.ID == x.id && found.Confidence != record.Possible && (x.on == "" || found.Host == x.on)
	})
	switch why := untoldFaults[x.name()]; {
	case found && why == "":
		f.found++
	case found:
		t.Errorf("%s, %s: it is found, although %s", x.name(), way, why)
	case why != "":
		f.untold++
	default:
		f.missed = append(f.missed, x.name())
		t.Logf("%s, %s: it is not found; found were %s", x.name(), way, summary(e))
	}
	for _, y := range sure(e) {
		if untoldFaults[x.name()] != "" {
			break // what is found follows from it, as far as is known
		}
		if y.ID != x.id && y.ExplainedBy == "" && !slices.Contains(x.beside, y.ID) {
			f.wrong = append(f.wrong, x.name()+": "+y.ID)
			t.Logf("%s, %s: also found: %s", x.name(), way, summary(e))
		}
	}
}

// TestFaultsByTools plants the faults of make faults, and has them found in what plain tools print: twice in
// a pasted text, as in a ticket, and in two archives of the form of sos report.
func TestFaultsByTools(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		var mu sync.Mutex
		result := map[string]*textFaults{}
		for _, way := range ways {
			result[way] = &textFaults{}
		}
		t.Run("planted", func(t *testing.T) {
			for _, f := range slices.Concat(oneHostFaults, peerFaults, ipv6Faults, variedFaults) {
				t.Run(f.name(), func(t *testing.T) {
					t.Parallel()
					hosts := f.hosts
					if len(hosts) == 0 {
						hosts = benchHosts
					}
					found := byTools(newBench(t), f.plant, f.act, hosts)
					mu.Lock()
					defer mu.Unlock()
					for way, e := range found {
						result[way].judge(t, way, f, e)
					}
				})
			}
		})
		t.Run("healthy", func(t *testing.T) {
			for _, twin := range twins {
				t.Run(twin.id, func(t *testing.T) {
					t.Parallel()
					for way, e := range byTools(newBench(t), twin.plant, twin.act, benchHosts) {
						for _, x := range sure(e) {
							t.Errorf("%s: found %s\n%s", way, x.ID, summary(e))
						}
					}
				})
			}
		})
		const least = 0.95
		for _, way := range ways {
			r := result[way]
			precision, recall := r.rates()
			t.Logf("%s: of %d faults that it can show %d are found: precision %.3f, recall %.3f; %d it cannot show",
				way, r.found+len(r.missed), r.found, precision, recall, r.untold)
			if precision < least || recall < least {
				t.Errorf("%s: precision %.3f, recall %.3f: want at least %g; not found: %q; wrong: %q", way, precision,
					recall, least, r.missed, r.wrong)
			}
		}
	})
}

const probeOnly = "only packets that linerate sends show it, and none of the tools sends any"

// untoldFaults are faults that no text of the tools shows, with the reason.
var untoldFaults = map[string]string{
	"arp-flux":          probeOnly,
	"duplicate-address": probeOnly,
	"duplicate-address (seen by a third host)":           probeOnly,
	"duplicate-address (seen by one that holds it)":      probeOnly,
	"wrong-neighbour (the gateway's old address)":        probeOnly,
	"wrong-neighbour (without the neighbour's snapshot)": probeOnly,
	"mtu-blackhole":        probeOnly,
	"mtu-blackhole (IPv6)": probeOnly,
	"probe-unanswered":     probeOnly,
	"probe-unanswered (its answers go to another MAC address)": probeOnly,
	"connect-unanswered": probeOnly,
	"resolver-dead":      probeOnly,
}
