package rule

import (
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// cabled adds to each finding where the interfaces that it names are connected (LLDP), at most two
// cables each.
func cabled(f facts.Trial, findings []record.Finding) {
	ports := map[string]map[string][]string{} // of hosts and interfaces
	for _, h := range f.Hosts {
		if len(h.State.LLDP) > 0 {
			ports[h.Name] = map[string][]string{}
		}
		for _, n := range h.State.LLDP {
			ports[h.Name][n.Interface] = append(ports[h.Name][n.Interface], n.Place())
		}
	}
	for i, finding := range findings {
		connected(&findings[i], ports[finding.Host])
	}
}

// connected adds the cables to one finding; ports are the ports connected to the interfaces of its
// host.
func connected(f *record.Finding, ports map[string][]string) {
	names := []string{f.About.Interface}
	for _, one := range f.Facts {
		switch is := one.Is.(type) {
		case fact.Named:
			names = append(names, is.Names()...)
		case fact.Text:
			names = append(names, words(is.Text)...)
		}
	}
	var cables []any
	for _, name := range names {
		for _, place := range ports[name] {
			var cable any = fact.Cable{Interface: name, Place: place}
			if len(cables) < 2 && !slices.Contains(cables, cable) &&
				!slices.ContainsFunc(f.Facts, func(one fact.Fact) bool {
					says, is := one.Is.(fact.LLDP)
					return is && says.Place == place
				}) {
				cables = append(cables, cable)
			}
		}
	}
	f.With(f.Host, cables...)
}
