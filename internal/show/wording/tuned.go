package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
)

// Setting returns a copy of a setting of a list, with its reasons in words. A setting of an
// earlier version keeps the words that it has.
func Setting(s record.TuneSetting) record.TuneSetting {
	if len(s.Reasons) == 0 {
		return s
	}
	var said []string
	before := ""
	for _, one := range s.Reasons {
		if one.Code == record.WhyNotShown {
			before = "not shown by what would be kept: "
		} else {
			said = append(said, reason(s, one))
		}
	}
	s.Why = before + strings.Join(said, "; ")
	return s
}

// Settings returns a copy of a list of settings, each as Setting returns it.
func Settings(list []record.TuneSetting) []record.TuneSetting {
	worded := make([]record.TuneSetting, 0, len(list))
	for _, s := range list {
		worded = append(worded, Setting(s))
	}
	return worded
}

// reason returns the words of a reason for a setting's verdict.
func reason(s record.TuneSetting, why record.Statement) string {
	a := arguments(why.Args)
	switch why.Code {
	case record.WhyOpen:
		if e := placed(s, a.at(0)); e != nil {
			return e.Why
		}
	case record.WhyResponse:
		r, _ := metric.Find(a.at(0))
		e := r.Effect(placed(s, a.at(1)))
		switch {
		case e == nil:
		case a.at(1) == record.PlaceWithout:
			return changed(r, e) + " without it"
		default:
			return changed(r, e)
		}
	case record.WhyDepends:
		r, _ := metric.Find(a.at(0))
		if alone, without := r.Effect(s.Alone), r.Effect(s.Removed); alone != nil && without != nil {
			return fmt.Sprintf("%s: %s (%s and %s)", r.Label, statement(record.Statement{Code: a.at(1)}),
				EffectSize(r, alone), EffectSize(r, without))
		}
	case record.WhyBeside:
		if s.Beside != nil {
			r, _ := metric.Find(s.Beside.Response)
			return "only with others: without it the best set has " + changed(r, s.Beside)
		}
	}
	return statement(why)
}

// placed is the effect of a setting at a place.
func placed(s record.TuneSetting, place string) *record.Effect {
	if place == record.PlaceWithout {
		return s.Removed
	}
	return s.Alone
}

// changed is an effect in a response: "latency p99 worsens, 3.00× (2.80–3.20)".
func changed(r metric.Metric, e *record.Effect) string {
	return fmt.Sprintf("%s %s, %s", r.Label, e.Verdict, EffectSize(r, e))
}

// The words of TuneSetting.Reasons, without those that need the setting's effects.
var _ = state(map[string]func(arguments) string{
	record.WhyNotAlone:       text("tried only with the others: --ablate tries each setting alone"),
	record.WhyAlone:          text("alone"),
	record.WhyAloneMissed:    text("alone, and the list is worse without it"),
	record.WhyAloneSpare:     text("alone; in the list other settings have the same effect"),
	record.WhyMissed:         text("with others: the list is worse without it"),
	record.WhyMissedAlthough: text("with others: the list is worse without it, although alone it harms"),
	record.WhyAloneBetter:    text("alone, and the list is better without it"),
	record.WhyBetter:         text("the list is better without it"),
	record.WhyHelpsOrHarms:   text("alone it helps, and the list is better without it"),
	record.WhyHarmsOrHelps:   text("alone it harms, and the list is worse without it"),
	record.WhyIncomplete:     text("its trials are incomplete"),
	record.WhyPart:           text("kept as a part of what is proven"),
	record.WhyNeeded:         text("only with others: the best set is worse without it"),
	record.WhyKeptOpen:       text("kept with the others: it is not shown to be needed"),
	record.WhySpare:          text("not needed with the settings kept"),
	record.UntriedSystem: func(a arguments) string {
		return "it is for " + opsystem.Name(a.at(0)) + ", and hosts are changed on Linux only"
	},
	record.UntriedPattern:     text("it is a pattern for several parameters: write them one by one to have them tried"),
	record.UntriedNoInterface: format("%[1]s has no interface %[2]s"),
	record.UntriedUnit:        text("the value is in another unit than the kernel's"),
	record.UntriedMachine: text(
		"machine-wide, and a lab's hosts are network namespaces: try on real hosts with --on STUDY " +
			"--allow-machine-settings"),
	record.UntriedRefused: func(a arguments) string {
		if a.at(0) == "" {
			return a.at(1)
		}
		return a.at(0) + ": " + a.at(1)
	},
	record.UntriedAsItIs:   text("every host has that value already"),
	record.UntriedMadeWith: text("the lab's hosts are made with that value in every trial; others need not have it"),
	record.UntriedBound: func(a arguments) string {
		return "tuned sets it only where that makes it " + bounded(a.at(0))
	},
	record.UntriedNoControl: format(
		"this kernel has no congestion control %[1]s (net.ipv4.tcp_available_congestion_control = %[2]s): modprobe " +
			"tcp_%[1]s"),
	record.UntriedKind:        text("tune tries kernel parameters and options of NICs and CPUs only"),
	record.UntriedCorrection:  format("only what the file says is tried: to have it tried, write %[1]s"),
	record.UntriedCondition:   format("which value it gets depends on a condition (%[1]s)"),
	record.UntriedTwice:       format("the value of %[1]s is tried, which is set for something else"),
	record.UntriedSameControl: text("the flows already use this congestion control"),
	record.UntriedOtherFlows:  text("only linerate's own TCP flows can be set to use it"),
})
