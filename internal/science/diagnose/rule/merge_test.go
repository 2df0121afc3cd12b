package rule_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/sciencetest"
)

func TestMerge(t *testing.T) {
	var all []record.Finding
	for i := range sciencetest.Fixes {
		for _, direction := range []string{"writes", "reads"} {
			all = append(all, diagnose.Diagnose(diagnosetest.Trial(i, direction), &diagnosetest.Topo)...)
		}
	}
	again := all[slices.IndexFunc(all, func(f record.Finding) bool { return f.ID == "arp-flux" })]
	again.Confidence, again.Treatments = record.Possible, []string{"writes, kernel defaults", "other"}
	all = append(all, again)
	merged := diagnose.Merge(all)
	if got := diagnosetest.Names(
		merged); got != "arp-flux server certain, arp-wrong-source server certain, same-subnet-one-egress server "+
		"certain, rp-filter-drop server certain" {
		t.Errorf("merged %q", got)
	}
	if got := strings.Join(merged[0].Treatments,
		"; "); got != "writes, kernel defaults; reads, kernel defaults; other" {
		t.Errorf("treatments %q", got)
	}
	for _, f := range merged {
		if n := len(f.Facts); n == 0 || n > 8 {
			t.Errorf("%s has %d facts", f.ID, n)
		}
	}
	if diagnose.Merge(nil) != nil {
		t.Error("nothing merged to something")
	}
}

// TestUnevaluated: a rule without what it needs is not evaluated, and says why.
func TestUnevaluated(t *testing.T) {
	s := diagnosetest.HostNamed("nas", 15)
	s.State.NICs, s.State.Parts[0].Missing = nil, "operation not permitted"
	e := diagnose.Hosts([]netstate.HostSnapshot{s})
	i := slices.IndexFunc(e.Unevaluated, func(u record.Unevaluated) bool { return u.Rule == "half-duplex" })
	if i < 0 || e.Unevaluated[i].Why != "nics: operation not permitted" ||
		slices.Contains(e.Evaluated, "half-duplex") || !slices.Contains(e.Evaluated, "window-scaling-off") {
		t.Errorf("%+v", e)
	}
}

// TestExplained: what follows from a cause on the same host says so, and the cause does not.
func TestExplained(t *testing.T) {
	s := diagnosetest.HostNamed("nas", 15)
	s.State.Parameters["net.core.somaxconn"] = "16"
	s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 5
	explained := map[string]string{}
	for _, f := range diagnose.Hosts([]netstate.HostSnapshot{s, diagnosetest.HostNamed("client", 16)}).Findings {
		explained[f.ID+" "+f.Host] = f.ExplainedBy
	}
	// likely cause, certain consequence: the consequence is not folded below what is less sure.
	if by, found := explained["listen-overflow nas"]; !found || by != "" {
		t.Errorf("%v", explained)
	}
	s.State.Listeners = []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 17, Backlog: 16}}
	for _, f := range diagnose.Hosts([]netstate.HostSnapshot{s}).Findings {
		explained[f.ID+" "+f.Host] = f.ExplainedBy
	}
	if explained["listen-overflow nas"] != "accept-queue-full" || explained["accept-queue-full nas"] != "" {
		t.Errorf("%v", explained)
	}
}

// What needs another fix stays another finding.
func TestMergeKeepsFixesApart(t *testing.T) {
	filtered := diagnosetest.Trial(0, "writes")
	filtered.Treatment = "filtered"
	filtered.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_filter"] = "1"
	down := diagnosetest.Cut()
	diagnosetest.Neighbour(&down, "", "FAILED")
	down.Hosts[0].Snapshot.Interfaces[1].Up = false
	silent := diagnosetest.Cut()
	diagnosetest.Neighbour(&silent, "", "FAILED")
	silent.Hosts[0].Snapshot.Sysctls["net.ipv4.conf.all.arp_ignore"] = "8"
	var all []record.Finding
	for _, tr := range []record.Trial{diagnosetest.Trial(0, "writes"), filtered, diagnosetest.Trial(0, "reads"),
		filtered, down, silent, down} {
		all = append(all, diagnose.Diagnose(tr, &diagnosetest.Topo)...)
	}
	want := "arp-flux server certain, arp-flux server certain, same-subnet-one-egress server certain, unreachable " +
		"server likely, unreachable server likely"
	if got := diagnosetest.Names(diagnose.Merge(all)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
