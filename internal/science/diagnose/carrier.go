package diagnose

import (
	"fmt"
	"slices"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

var carrierRules = []rule{
	{id: "carrier-lost",
		about: "An interface lost its carrier in the window, or was taken down, and no event of the study did it. Needs a measurement.",
		find:  carrierLost, sameCause: sameSummary}}

// carrierLost finds links that had no carrier for a part of the window though the study
// took none down. Of a link's two ends that lost it at once one has the finding: that which
// was taken down, if one was.
func carrierLost(f observed) (findings []record.Finding) {
	for n, fault := range f.trial.Faults {
		far := f.farEnd(fault)
		if far >= 0 && (f.trial.Faults[far].Down && !fault.Down || f.trial.Faults[far].Down == fault.Down && far < n) {
			continue
		}
		i := slices.IndexFunc(findings, func(o record.Finding) bool {
			return o.Host == fault.Host && o.Summary == summaryOf(fault)
		})
		if i < 0 {
			i = len(findings)
			findings = append(findings, record.Finding{
				Host: fault.Host, Confidence: record.Certain, Summary: summaryOf(fault),
				Fix:       carrierFix(fault, len(f.hosts) == 1),
				Reference: "Linux Documentation/networking/operstates.rst; ethtool(8)",
			})
		}
		findings[i].Evidence = append(findings[i].Evidence, lossOf(fault, f.trial.WindowS))
		if far >= 0 {
			findings[i].Evidence = append(findings[i].Evidence, lossOf(f.trial.Faults[far], f.trial.WindowS))
		}
		for _, flow := range f.trial.Flows {
			for _, o := range flow.Outages {
				if o.AtS == fault.AtS && o.LostS > 0 {
					findings[i].Evidence = union(findings[i].Evidence, silenceOf(flow, o))
				}
			}
		}
	}
	return findings
}

// farEnd is the fault of the other end of the same link at the same instant; -1: none.
func (f observed) farEnd(fault record.Event) int {
	at := topology.End{Node: fault.Host, Interface: fault.Interface}
	link, is := f.over.LinkAt(at)
	if !is {
		return -1
	}
	other := link.Other(at)
	return slices.IndexFunc(f.trial.Faults, func(o record.Event) bool {
		return o.AtS == fault.AtS && o.Host == other.Node && o.Interface == other.Interface
	})
}

func summaryOf(fault record.Event) string {
	return fault.Host + "." + fault.What + " in the window"
}

// lossOf says when the interface had no carrier.
func lossOf(fault record.Event, windowS float64) string {
	at := fmt.Sprintf("%s.%s %.2f s after the window's begin", fault.Host, fault.What, fault.BeganS)
	if fault.EndedS >= windowS {
		return at + ", and had none until its end"
	}
	return fmt.Sprintf("%s, and had it again %.2f s later", at, fault.EndedS-fault.BeganS)
}

func silenceOf(flow record.Flow, o record.Outage) string {
	text := fmt.Sprintf("flow %s: %s received nothing from %s ", flow.ID, flow.To, flow.From)
	lost := record.SpellLost(o.LostS, o.LostAtMostS)
	if o.Resumed {
		return text + "for " + lost
	}
	return text + "for the last " + lost
}

func carrierFix(fault record.Event, alone bool) []string {
	name := hostconfig.Quote(fault.Interface)
	return append(on(fault.Host, alone, "ethtool "+name, "ip -s -s link show dev "+name),
		"check the cable, the transceiver and the switch's port: the kernel log has the driver's lines about the link",
		"measure again: the figures of these trials are those of a link that failed")
}
