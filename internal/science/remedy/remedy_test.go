package remedy

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
)

const file = `
study: nas
topology:
  hosts:
    nas: {interfaces: {eth0: {addresses: [192.168.1.10/24]}, eth1: {addresses: [192.168.1.11/24]}}}
    client: {interfaces: {eth0: {addresses: [192.168.1.101/24]}}}
  switches: {switch: {}}
  links:
    - {from: "nas.eth{0..1}", to: switch, rate: 1gbit}
    - {from: client, to: switch, rate: 2gbit}
workload:
  flows: [{from: client, to: nas}]
factors:
  direction:
    role: condition
    levels: {writes: {}, reads: {workload: {direction: read}}}
  arp:
    levels:
      as it is:
        settings: [{host: nas, sysctl: {net.ipv4.tcp_sack: 0, net.ipv4.tcp_dsack: 0}}]
      source routing:
        settings:
          - {host: nas, sysctl: {net.ipv4.tcp_dsack: 0, net.ipv4.conf.all.arp_ignore: 1, net.ipv4.conf.eth1.rp_filter: 2}}
          - {host: nas, route: {to: 192.168.1.0/24, interface: eth1, source: 192.168.1.11, table: 101}}
          - {host: nas, rule: {from: 192.168.1.11, table: 101}}
          - {host: client, neighbour: {interface: eth0, address: 192.168.1.11, lladdr: nas.eth1}}
  algorithm:
    levels:
      cubic: {}
      bbr: {workload: {congestion_control: bbr, window: 4MiB}}
`

// made is a run of that study that recommends a combination of levels; none: nothing.
func made(t *testing.T, arp, algorithm string) *record.Run {
	t.Helper()
	s, err := study.Parse("nas.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	run := &record.Run{ID: "nas-7", Study: "nas", Status: "complete", StudyFile: file, Topology: s.Topology}
	for _, p := range plan.Treatments {
		run.Treatments = append(run.Treatments, record.Treatment{Name: p.Name, Levels: p.Levels, Best: arp != "" &&
			p.Levels["arp"] == arp && p.Levels["algorithm"] == algorithm})
	}
	return run
}

func commands(fix *Fix) (list []string) {
	for _, h := range fix.Hosts {
		for _, c := range hostconfig.Commands(h.Settings) {
			list = append(list, h.Name+": "+c)
		}
	}
	return list
}

// TestRecommended: what the levels change against the baseline, and what it does without.
func TestRecommended(t *testing.T) {
	fix, err := Recommended(made(t, "source routing", "bbr"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"nas: sysctl -w net.ipv4.conf.all.arp_ignore=1", "nas: sysctl -w net.ipv4.conf.eth1.rp_filter=2",
		"nas: ip route replace 192.168.1.0/24 dev eth1 src 192.168.1.11 table 101",
		"nas: ip rule add from 192.168.1.11 lookup 101",
		"client: ip neigh replace 192.168.1.11 lladdr 02:00:00:01:00:02 dev eth0 nud permanent",
		"client: sysctl -w net.ipv4.tcp_congestion_control=bbr",
	}
	if got := commands(fix); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if fix.Name != "source routing + bbr" || !fix.Lab ||
		!slices.Equal(fix.Undo, []string{"nas: sysctl net.ipv4.tcp_sack=0"}) ||
		!slices.Equal(fix.Programs, []string{"congestion_control: bbr", "window: 4MiB"}) ||
		!slices.Equal(fix.Defaults, []string{"congestion_control"}) {
		t.Errorf("%+v", fix)
	}
	if fix, err = Recommended(made(t, "as it is", "bbr")); err != nil || len(commands(fix)) != 1 || len(fix.Undo) > 0 {
		t.Errorf("%+v, %v", fix, err)
	}
}

// TestNone: an interrupted run, one without a recommendation, and one of too few blocks, whose
// treatments have not failed.
func TestNone(t *testing.T) {
	early := made(t, "source routing", "cubic")
	early.Status = "interrupted"
	few := made(t, "", "")
	few.Conclusion = &record.Conclusion{Compared: true, Ending: record.Ending{Blocks: 3}}
	if _, err := Recommended(few); !errors.Is(err, ErrNone) ||
		!strings.Contains(err.Error(),
			"run nas-7 is a look at 3 blocks: no verdict and no recommendation, which take at least 4 blocks; "+
				"continue it with: linerate run --resume nas-7 --replicates 4") {
		t.Errorf("%v", err)
	}
	for _, run := range []*record.Run{early, made(t, "", "")} {
		if _, err := Recommended(run); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "nas-7") {
			t.Errorf("%s: %v", run.Status, err)
		}
	}
}

// TestOfFinding: what a finding asks for besides its settings is advice; without settings
// all of it is. Two findings of one cause are one fix.
func TestOfFinding(t *testing.T) {
	run := made(t, "", "")
	advice := record.Finding{ID: "duplicate-address", Host: "nas", Fix: []string{"give one of them another address"}}
	fix, err := OfFinding(run, advice)
	if err != nil || len(fix.Hosts) != 0 || !slices.Equal(fix.Advice, advice.Fix) {
		t.Errorf("%+v, %v", fix, err)
	}
	clients := record.Flush{To: netip.MustParsePrefix("192.168.1.0/24"), Interface: "eth0"}
	parameter := func(key, value string) record.Step {
		return record.Settings(setting.Setting{Host: "nas", Sysctl: []setting.Sysctl{{Key: key, Value: value}}})[0]
	}
	flux := record.Finding{ID: "arp-flux", Host: "nas"}
	flux.With("client", fact.Text{Text: "an entry"}).Fixed(parameter("net.ipv4.conf.all.arp_ignore", "1"),
		record.Step{Host: "client", Flush: &clients})
	fix, err = OfFinding(run, flux)
	flush := []Flush{{"client", clients}}
	if err != nil || !slices.Equal(commands(fix), []string{"nas: sysctl -w net.ipv4.conf.all.arp_ignore=1"}) ||
		len(fix.Advice) > 0 || !slices.Equal(fix.Flushes, flush) {
		t.Errorf("%+v, %v", fix, err)
	}
	flux.Fixed(parameter("net.ipv4.conf.all.arp_announce", "2"))
	other, err := OfFinding(run, flux)
	if err != nil {
		t.Fatal(err)
	}
	fix.Join(other)
	if got := commands(fix); len(fix.Hosts) != 1 || len(got) != 2 || len(fix.Flushes) != 1 {
		t.Errorf("%q, flushes %v", got, fix.Flushes)
	}
}

// TestOfFindings: the network as it is needs what the baseline's findings ask for, and not what
// a treatment that was tried brought about; without such a finding, the treatments' count.
func TestOfFindings(t *testing.T) {
	run := made(t, "", "")
	run.Treatments = []record.Treatment{{Name: "nothing", Baseline: true}, {Name: "arp_filter"}}
	flux := func(key, treatment string) record.Finding {
		return record.Finding{ID: "arp-flux", Host: "nas", Treatments: []string{treatment},
			Settings: []setting.Setting{{Host: "nas", Sysctl: []setting.Sysctl{{Key: key, Value: "1"}}}}}
	}
	ignore, filter := flux("net.ipv4.conf.all.arp_ignore", "nothing"), flux("net.ipv4.conf.all.arp_announce",
		"arp_filter")
	filter.Fix = []string{"or, instead of source routing: arp_filter=0"}
	everywhere := flux("net.ipv4.conf.all.arp_filter", "")
	everywhere.Treatments = nil
	const ignores, announces, filters = "nas: sysctl -w net.ipv4.conf.all.arp_ignore=1",
		"nas: sysctl -w net.ipv4.conf.all.arp_announce=1", "nas: sysctl -w net.ipv4.conf.all.arp_filter=1"
	for _, test := range []struct {
		findings []record.Finding
		want     []string
		advice   int
	}{
		{[]record.Finding{filter, ignore}, []string{ignores}, 0},
		{[]record.Finding{ignore, everywhere}, []string{ignores, filters}, 0},
		{[]record.Finding{filter}, []string{announces}, 1},
	} {
		run.Findings = test.findings
		fix, err := OfFindings(run, "arp-flux")
		if err != nil || !slices.Equal(commands(fix), test.want) || len(fix.Advice) != test.advice {
			t.Errorf("%+v, %v; want %q", fix, err, test.want)
		}
	}
	if fix, err := OfFindings(run, "mtu-differs"); fix != nil || err != nil {
		t.Errorf("%+v, %v", fix, err)
	}
}

// TestProven: of a run of tune that kept settings those are the fix, not the whole list.
func TestProven(t *testing.T) {
	run := made(t, "source routing", "bbr")
	run.Proven = &record.Proven{Run: "nas-8", Settings: []string{"net.ipv4.conf.all.arp_ignore"}, Of: 3}
	fix, err := Recommended(run)
	if err != nil || !slices.Equal(commands(fix), []string{"nas: sysctl -w net.ipv4.conf.all.arp_ignore=1"}) ||
		fix.Proof != "nas-8" ||
		fix.Name != "1 of the list's 3 settings, proven by run nas-8" {
		t.Errorf("%+v, %v", fix, err)
	}
	run.Proven.Settings = []string{setting.CongestionControl}
	fix, err = Recommended(run)
	if err != nil || !slices.Equal(commands(fix),
		[]string{"client: sysctl -w net.ipv4.tcp_congestion_control=cubic"}) &&
		!slices.Equal(commands(fix), []string{"client: sysctl -w net.ipv4.tcp_congestion_control=bbr"}) {
		t.Errorf("%+v, %v", fix, err)
	}
	run.Proven.Settings = []string{"net.ipv4.tcp_rmem"}
	if _, err := Recommended(run); err == nil || !strings.Contains(err.Error(), "net.ipv4.tcp_rmem") {
		t.Error(err)
	}
}

// TestHostile: names that no host has, and lines in values, are refused.
func TestHostile(t *testing.T) {
	run := made(t, "", "")
	for why, s := range map[string]setting.Setting{
		"expected a value on one line": {Host: "nas",
			Sysctl: []setting.Sysctl{{Key: "net.ipv4.tcp_rmem", Value: "1\nkernel.core_pattern = |/x"}}},
		"is not a kernel parameter": {Host: "nas", Sysctl: []setting.Sysctl{{Key: "-p/tmp/x.conf", Value: "1"}}},
		"interface name":            {Host: "nas", Link: &setting.Link{Interface: "eth0\nreboot", MTU: 1500}},
		"host name":                 {Host: "nas\nreboot", Link: &setting.Link{Interface: "eth0", MTU: 1500}},
		"is no address":             {Host: "nas", Rule: &setting.Rule{From: "fe80::1%eth0;reboot", Table: 7}},
		"is no queueing discipline": {Host: "nas", Qdisc: &setting.Qdisc{Interface: "eth0", Kind: "fq; reboot"}},
	} {
		if _, err := OfFinding(run, record.Finding{ID: "x", Settings: []setting.Setting{s}}); err == nil ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// TestReplace: a name is replaced wherever it is used, and must be used.
func TestReplace(t *testing.T) {
	fix, err := Recommended(made(t, "source routing", "cubic"))
	if err != nil {
		t.Fatal(err)
	}
	err = fix.Replace([]string{"nas.eth1=bond0.7", "eth0=enp3s0", "192.168.1.11=10.0.0.11",
		"192.168.1.0/24=10.0.0.0/16", "02:00:00:01:00:02=52:54:00:00:00:01"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"nas: sysctl -w net.ipv4.conf.all.arp_ignore=1", "nas: sysctl -w net.ipv4.conf.bond0/7.rp_filter=2",
		"nas: ip route replace 10.0.0.0/16 dev bond0.7 src 10.0.0.11 table 101",
		"nas: ip rule add from 10.0.0.11 lookup 101",
		"client: ip neigh replace 10.0.0.11 lladdr 52:54:00:00:00:01 dev enp3s0 nud permanent",
	}
	if got := commands(fix); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for pair, why := range map[string]string{
		"eth7=x": "nothing that is changed has that name", "eth0": "expected OLD=NEW", "=x": "expected OLD=NEW",
		"enp3s0=":    "expected OLD=NEW",
		"enp3s0=a b": "expected OLD=NEW", "10.0.0.11=there": "expected an address",
	} {
		if err := fix.Replace([]string{pair}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", pair, err, why)
		}
	}
}

// TestMeasurementHasNone: a measurement tried no settings; what its findings are is said.
func TestMeasurementHasNone(t *testing.T) {
	for want, ids := range map[string][]string{"none": nil, "arp-flux, mtu": {"arp-flux", "mtu", "arp-flux"}} {
		run := &record.Run{ID: "measure-1", Study: record.MeasureStudy, Status: "complete",
			Treatments: []record.Treatment{{Name: "measurement", Baseline: true}}}
		for _, id := range ids {
			run.Findings = append(run.Findings, record.Finding{ID: id})
		}
		if _, err := Recommended(run); !errors.Is(err, ErrNone) ||
			!strings.HasSuffix(err.Error(),
				"a measurement compares no settings, as studies do (linerate new hosts writes one); findings of "+
					"run measure-1: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestFlush: settings that change which ARP requests are answered leave peers' entries as
// they are, and the fix says where to flush them; other settings change none.
func TestFlush(t *testing.T) {
	fix, err := Recommended(made(t, "source routing", "cubic"))
	want := []string{
		"peers keep wrong ARP entries until these age (base_reachable_time) or are flushed: on client: ip neigh " +
			"flush to 192.168.1.0/24 dev eth0"}
	if err != nil || !slices.Equal(fix.Instructions(), want) {
		t.Errorf("%q, %v", fix.Instructions(), err)
	}
	// Each host's command has that host's names, those of other hosts as well.
	fix.Flushes = append(fix.Flushes, Flush{"other", fix.Flushes[0].Flush})
	if err = fix.Replace([]string{"client.eth0=enp3s0", "192.168.1.0/24=10.0.0.0/16",
		"192.168.1.11=10.0.0.11"}); err != nil {
		t.Fatal(err)
	}
	want = []string{
		"peers keep wrong ARP entries until these age (base_reachable_time) or are flushed: on client: ip neigh " +
			"flush to 10.0.0.0/16 dev enp3s0; on other: ip neigh flush to 10.0.0.0/16 dev eth0"}
	if got := fix.Instructions(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if fix, err = Recommended(made(t, "as it is", "bbr")); err != nil || len(fix.Instructions()) > 0 {
		t.Errorf("%q, %v", fix.Instructions(), err)
	}
}

// TestUnmapped: what no pair replaces is listed until nothing is; parameters of all interfaces
// name none. Where several hosts have an interface of a name, its host is part of it.
func TestUnmapped(t *testing.T) {
	all := []string{"nas.eth1=bond0.7", "client.eth0=enp3s0", "192.168.1.11=10.0.0.11", "192.168.1.0/24=10.0.0.0/24",
		"02:00:00:01:00:02=52:54:00:00:00:01"}
	for _, test := range []struct {
		pairs []string
		kept  string
	}{
		{nil, "eth1 192.168.1.0/24 192.168.1.11 eth0 02:00:00:01:00:02"},
		{all[:2], "192.168.1.0/24 192.168.1.11 02:00:00:01:00:02"},
		{all[2:], "eth1 eth0"},
		{[]string{"eth1=eth1"}, "192.168.1.0/24 192.168.1.11 eth0 02:00:00:01:00:02"}, // this one is the host's as well
		{all, ""},
	} {
		fix, err := Recommended(made(t, "source routing", "cubic"))
		if err != nil {
			t.Fatal(err)
		}
		if err := fix.Replace(test.pairs); err != nil {
			t.Errorf("%s: %v", test.pairs, err)
		}
		if got := strings.Join(Texts(fix.Unmapped), " "); got != test.kept {
			t.Errorf("%s: still the lab's: %s, want %s", test.pairs, got, test.kept)
		}
	}
	for _, test := range []struct {
		made setting.Setting
		want string
	}{
		{setting.Setting{Sysctl: []setting.Sysctl{{Key: "net.ipv4.conf.all.arp_ignore", Value: "1"}}}, "eth0"},
		{setting.Setting{Sysctl: []setting.Sysctl{{Key: "net.ipv4.conf.eth1.arp_ignore", Value: "1"}}}, "eth1 eth0"},
		{setting.Setting{Link: &setting.Link{Interface: "eth0", MTU: 1500}}, "nas.eth0 client.eth0"},
		{setting.Setting{Route: &setting.Route{To: "default", Via: "inet6 fd00::1", Interface: "eth0"}},
			"nas.eth0 fd00::1 client.eth0"},
	} {
		fix := &Fix{Flushes: []Flush{
			{"client", record.Flush{To: netip.MustParsePrefix("0.0.0.0/0"), Interface: "eth0"}}},
			Hosts: []hostconfig.Host{{Name: "nas", Interfaces: []hostconfig.Interface{{Name: "eth0"}},
				Settings: []setting.Setting{test.made}}}}
		if err := fix.Replace(nil); err != nil || strings.Join(Texts(fix.Unmapped), " ") != test.want {
			t.Errorf("%+v: %s, %v, want %s", test.made, Texts(fix.Unmapped), err, test.want)
		}
	}
}

// TestSourceStaysInside: a route whose source would no longer be in its network is an error
// with what is missing. The source of a route to elsewhere may be anywhere.
func TestSourceStaysInside(t *testing.T) {
	for pairs, want := range map[string]string{
		"192.168.1.11=10.0.0.11": "--map 192.168.1.0/24=10.0.0.0/24 is missing",
		"192.168.1.0/24=10.0.0.0/24": "--map 192.168.1.11=ADDRESS is missing, with one in " +
			"10.0.0.0/24",
		"192.168.1.11=10.0.1.11 192.168.1.0/24=10.0.0.0/24": "expected a source in 10.0.0.0/24",
		"192.168.1.11=192.168.1.77":                         "",
		"192.168.1.11=10.0.1.11 192.168.1.0/24=10.0.0.0/16": "",
	} {
		fix, err := Recommended(made(t, "source routing", "cubic"))
		if err != nil {
			t.Fatal(err)
		}
		if err := fix.Replace(strings.Fields(pairs)); (want == "") != (err == nil) || err != nil &&
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pairs, err, want)
		}
	}
	beyond := setting.Setting{Route: &setting.Route{To: "172.16.0.0/12", Via: "192.168.1.1",
		Source: netip.MustParseAddr("192.168.1.11")}}
	fix := &Fix{Hosts: []hostconfig.Host{{Name: "nas", Settings: []setting.Setting{beyond}}}}
	if err := fix.Replace([]string{"192.168.1.11=10.0.0.11"}); err != nil {
		t.Error(err)
	}
}
