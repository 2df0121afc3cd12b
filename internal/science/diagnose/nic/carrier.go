package nic

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// CarrierRules find links that lost their carrier during a trial.
var CarrierRules = []rule.Rule{{ID: cause.CarrierLost.Code, Find: carrierLost}}

// carrierLost finds links that had no carrier for a part of the window, although the study took
// none down. If both ends of a link lost it at once, only one has the finding: the end that was
// taken down, if one was.
func carrierLost(f facts.Trial) (findings []record.Finding) {
	at := map[record.FindingKey]int{} // in findings
	for n, fault := range f.Trial.Faults {
		far := farEnd(f, fault)
		if far >= 0 && (f.Trial.Faults[far].Down && !fault.Down || f.Trial.Faults[far].Down == fault.Down && far < n) {
			continue
		}
		one := record.Finding{ID: cause.CarrierLost.Code, Host: fault.Host, Confidence: record.Certain,
			Args: cause.Event{What: fault.What}, About: record.Subject{Interface: fault.Interface}}
		key := one.Key()
		i, known := at[key]
		if !known {
			i, findings = len(findings), append(findings, one)
			at[key] = i
		}
		found := &findings[i]
		found.With(fault.Host, lossOf(fault, f.Trial.WindowS))
		if far >= 0 {
			found.With(f.Trial.Faults[far].Host, lossOf(f.Trial.Faults[far], f.Trial.WindowS))
		}
		for _, flow := range f.Trial.Flows {
			for _, o := range flow.Outages {
				if o.AtS == fault.AtS && o.LostS > 0 {
					found.With(flow.To, facts.Silence(flow, o))
				}
			}
		}
		found.Facts = record.Distinct(found.Facts)
	}
	return findings
}

// farEnd returns the index of the fault at the other end of the same link at the same time; -1:
// none.
func farEnd(f facts.Trial, fault record.Event) int {
	at := topology.End{Node: fault.Host, Interface: fault.Interface}
	link, is := f.Topology.LinkAt(at)
	if !is {
		return -1
	}
	other := link.Other(at)
	return slices.IndexFunc(f.Trial.Faults, func(o record.Event) bool {
		return o.AtS == fault.AtS && o.Host == other.Node && o.Interface == other.Interface
	})
}

// lossOf returns when an interface had no carrier, as evidence.
func lossOf(fault record.Event, windowS float64) fact.CarrierLoss {
	loss := fact.CarrierLoss{What: fault.What, BeganS: fault.BeganS}
	if fault.EndedS < windowS {
		loss.Again, loss.ForS = true, fault.EndedS-fault.BeganS
	}
	return loss
}
