package nic

import (
	"fmt"
	"slices"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// CarrierRules find links that went down.
var CarrierRules = []rule.Rule{
	{ID: "carrier-lost",
		About: "An interface lost its carrier in the window, or was taken down, and no event of the study did it. Needs a measurement.",
		Find:  carrierLost, SameCause: rule.SameSummary}}

// carrierLost finds links that had no carrier for a part of the window though the study
// took none down. Of a link's two ends that lost it at once one has the finding: that which
// was taken down, if one was.
func carrierLost(f facts.Trial) (findings []record.Finding) {
	for n, fault := range f.Trial.Faults {
		far := farEnd(f, fault)
		if far >= 0 && (f.Trial.Faults[far].Down && !fault.Down || f.Trial.Faults[far].Down == fault.Down && far < n) {
			continue
		}
		i := slices.IndexFunc(findings, func(o record.Finding) bool {
			return o.Host == fault.Host && o.Summary == summaryOf(fault)
		})
		if i < 0 {
			i = len(findings)
			findings = append(findings, record.Finding{
				Host: fault.Host, Confidence: record.Certain, Summary: summaryOf(fault),
				Fix:       carrierFix(fault, len(f.Hosts) == 1),
				Reference: "Linux Documentation/networking/operstates.rst; ethtool(8)",
			})
		}
		findings[i].Evidence = append(findings[i].Evidence, lossOf(fault, f.Trial.WindowS))
		if far >= 0 {
			findings[i].Evidence = append(findings[i].Evidence, lossOf(f.Trial.Faults[far], f.Trial.WindowS))
		}
		for _, flow := range f.Trial.Flows {
			for _, o := range flow.Outages {
				if o.AtS == fault.AtS && o.LostS > 0 {
					findings[i].Evidence = facts.Union(findings[i].Evidence, said.SilenceOf(flow, o))
				}
			}
		}
	}
	return findings
}

// farEnd is the fault of the other end of the same link at the same instant; -1: none.
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

func carrierFix(fault record.Event, alone bool) []string {
	name := hostconfig.Quote(fault.Interface)
	return append(said.On(fault.Host, alone, "ethtool "+name, "ip -s -s link show dev "+name),
		"check the cable, the transceiver and the switch's port: the kernel log has the driver's lines about the link",
		"measure again: the figures of these trials are those of a link that failed")
}
