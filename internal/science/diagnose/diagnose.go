// Package diagnose finds the causes of bad measurements and misconfigured hosts. It reads the
// record of a trial, or the snapshots of hosts, and the topology that they belong to. Each finding
// has a cause, its evidence, and usually the commands that remove the cause. The package measures
// nothing; whether a figure can be believed is decided by package trust.
//
// A rule looks for a mechanism of the kernel or the network, not for a known example, and finds
// nothing where the cause of another rule explains the same evidence. The rules are grouped into
// families, one package each. A family may not import another one: what several need is in package
// facts, the settings that several propose are in package fix, and package rule evaluates all of
// them.
package diagnose

import (
	"sync"

	"linerate/internal/model/netstate"
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

// all returns the rules. Findings of one confidence are listed in this order.
var all = sync.OnceValue(func() *rule.Set {
	return rule.NewSet(path.Unreachable, arp.Rules, route.Rules, connection.PortRules, multipath.Rules,
		nic.CarrierRules, path.SwitchRules, path.PeerRules, multipath.BondRules,
		nic.VLANRules, path.MTURules, connection.WindowRules, machine.CPURules, machine.ToolRules,
		nic.Rules, subnet.MACRules, drop.QueueRules, nic.CounterRules, nic.LLDPRules, nic.DriverRules, nic.TunedRules,
		machine.LoadRules, subnet.Rules,
		route.GatewayRules, arp.NeighbourRules, route.FilterRules, arp.WrongNeighbourRules, subnet.HostsRules,
		route.PolicyRules, subnet.OverlapRules, arp.StaticRules,
		parameter.Rules(), connection.Rules, path.ProbeRules, machine.Rules, machine.LogRules, drop.FirewallRules,
		drop.Rules, counter.Rules(), connection.PathRules,
		connection.TransferRules, drop.ShaperRules, machine.ForeignRules, nic.ForeignRules)
})

// Diagnose applies the rules for trials to one trial.
func Diagnose(trial record.Trial, declared *topology.Topology) []record.Finding {
	f := facts.Gather(trial, trial.Over(declared))
	f.Declared = declared
	return all().Trial(f)
}

// Hosts applies all rules to snapshots of one or more hosts, at most one of each host. Rules about
// counters see what grew between the two readings of a snapshot. What they find only in the counts
// since the boot is at most record.Possible.
func Hosts(list []netstate.HostSnapshot) record.Evaluation {
	now, boot := facts.Observe(list, false), facts.Observe(list, true)
	e := all().Hosts(now, boot)
	e.Schema = record.EvaluationSchema
	for _, s := range list {
		e.Hosts = append(e.Hosts, s.Reading.Host)
		e.OverS = max(e.OverS, s.OverS)
	}
	e.Drops, e.DropsBy = drop.Table(now, boot, counter.Drops())
	return e
}

// Around applies the rules for hosts to a finished run. Rules about a host's state see the last
// snapshot of each host; rules about counters see what grew in the window of each trial. Around
// returns findings that are at least record.Likely. It leaves out:
//
//   - what follows from the known findings, those of the trials, or from a setting of the study;
//   - rules that explain a finding of a rule for trials, which looks for the cause itself;
//   - what any traffic causes that fills its path (rule.Rule.Load);
//   - a small buffer, if no flow was held back by it (rule.Rule.Holds);
//   - for the hosts of a lab, everything but the state of the host itself (rule.Rule.Own),
//     because their links, addresses and losses are set by the study.
func Around(run *record.Run, known []record.Finding) []record.Finding {
	return all().Around(run, known)
}

// Merge combines findings of several trials that have the same cause and host. The merged finding
// has the evidence of the trial in which it has the highest confidence. Evidence of different
// trials is not mixed: it would describe a state that never existed.
func Merge(findings []record.Finding) []record.Finding { return all().Merge(findings) }

// Accept moves the findings that the user accepts on a day (in the form time.DateOnly) from
// e.Findings to e.Accepted, with the findings that state the same fact under another name. Other
// consequences of an accepted cause stay findings: a risk that the user accepts is reported again
// when it does harm.
func Accept(e *record.Evaluation, accepted []record.AcceptedRule, day string) {
	all().Accept(e, accepted, day)
}

// Rules describes the rules that Hosts applies. Findings of one confidence are listed in this
// order.
func Rules() []rule.Description { return all().Described() }
