// Package diagnose returns findings: a cause, the evidence for it, and the commands
// that remove it. It reads records, of a trial or of a host's
// snapshot, and the topology they were made on. Whether a figure can be believed is
// for package trust; nothing is measured here.
//
// A rule detects a mechanism, not an example: it goes by what the kernel did, and
// finds nothing where another rule's cause explains the same evidence. There is one
// package for each family of rules, which knows no other family: it looks at package
// facts, proposes what package fix has, and is evaluated by package rule.
package diagnose

import (
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/arp"
	"linerate/internal/science/diagnose/connection"
	"linerate/internal/science/diagnose/counter"
	"linerate/internal/science/diagnose/drop"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/machine"
	"linerate/internal/science/diagnose/multipath"
	"linerate/internal/science/diagnose/nic"
	"linerate/internal/science/diagnose/parameter"
	"linerate/internal/science/diagnose/path"
	"linerate/internal/science/diagnose/route"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/subnet"
)

// all are the rules in the order in which a reader should meet their findings.
var all = rule.NewSet(path.Unreachable, arp.Rules, route.Rules, connection.PortRules, multipath.Rules, nic.CarrierRules,
	path.SwitchRules, multipath.BondRules,
	nic.VLANRules, path.MTURules, connection.WindowRules, machine.CPURules, machine.ToolRules,
	nic.Rules, subnet.MACRules, drop.QueueRules, nic.CounterRules, nic.LLDPRules, nic.DriverRules, nic.TunedRules,
	machine.LoadRules, subnet.Rules,
	route.GatewayRules, arp.NeighbourRules, route.FilterRules, arp.WrongNeighbourRules, subnet.HostsRules,
	route.PolicyRules, subnet.OverlapRules, arp.StaticRules,
	parameter.Rules, connection.Rules, path.ProbeRules, machine.Rules, machine.LogRules, drop.FirewallRules, drop.Rules,
	counter.Rules)

// Diagnose applies every rule for trials to one.
func Diagnose(trial record.Trial, t *topology.Topology) []record.Finding {
	return all.Trial(facts.Gather(trial, t))
}

// Hosts applies every rule to snapshots of one or more hosts, each at most once. Between two
// readings counters show what goes on; what was counted since the boot is possible at most.
func Hosts(list []record.HostSnapshot) record.Evaluation {
	now, boot := facts.Observe(list, false), facts.Observe(list, true)
	e := all.Hosts(now, boot)
	e.Schema = record.EvaluationSchema
	for _, s := range list {
		e.Hosts = append(e.Hosts, s.Reading.Host)
		e.OverS = max(e.OverS, s.OverS)
	}
	e.Drops, e.DropsBy = drop.Table(now, boot, counter.Drops)
	return e
}

// Around applies the rules for hosts to a run: those about a host's state to the latest of the
// run's snapshots of it, and those about counters to what grew in the window of each trial.
// It returns what is at least likely and follows neither from the known findings, those of
// the trials, nor from what the study sets. Left to the trials' own rules is what they look for,
// and no finding is what traffic that fills its path brings about, nor a small buffer that no
// flow is held back by, or nearly. Of a lab's hosts only rules
// about the hosts themselves are evaluated: their links, addresses and losses are the study's.
func Around(run *record.Run, known []record.Finding) []record.Finding { return all.Around(run, known) }

// Merge groups the findings of several trials by cause and host. The evidence of
// a merged finding is that of the trial with the highest confidence, as a whole: lines
// of different trials together would describe a state that did not exist.
func Merge(findings []record.Finding) []record.Finding { return all.Merge(findings) }

// Accept takes the findings that the user accepts on a day (time.DateOnly) out of those of an
// evaluation, and lists them apart, with those that restate an accepted one under another name.
// What else follows from an accepted cause is not accepted with it: a risk that the user takes
// is found again when it does harm.
func Accept(e *record.Evaluation, accepted []record.AcceptedRule, day string) {
	all.Accept(e, accepted, day)
}

// Rules are those of Hosts, in the order in which their findings are listed.
func Rules() []rule.Description { return all.Described() }
