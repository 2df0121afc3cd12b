package nic

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// offloads are those without which each packet costs a processor more, by ethtool's names.
// Software devices have some of them on by default; veth has no GRO, for one. The kernel keeps
// those that need scatter-gather off without it (netdev_fix_features).
var offloads = []struct {
	feature, option, does string
	software, gathers     bool
}{
	{"rx-gro", "gro", "merges received segments", false, false},
	{"tx-generic-segmentation", "gso", "hands large segments down the stack", true, true},
	{"tx-tcp-segmentation", "tso", "has the device cut segments", true, true},
	{"rx-checksum", "rx", "has the device check checksums", false, false},
}

const (
	scatterGather    = "tx-scatter-gather"
	offloadReference = "Linux Documentation/networking/segmentation-offloads.rst; ethtool(8)"
)

// offloadOff finds offloads that a command switches on. None does where one is requested and off:
// the driver or another feature, such as checksums, keeps it off.
func offloadOff(p facts.Port) *record.Finding {
	var off, apart []string
	var options []setting.Option
	gathers, has := p.NIC.Features[scatterGather]
	gathers = gathers || !has
	for _, o := range offloads {
		on, has := p.NIC.Features[o.feature]
		if !has || on || slices.Contains(p.NIC.Fixed, o.feature) || !p.Hardware() && !o.software {
			continue
		}
		row := fmt.Sprintf("%s: %s (%s) is off, and %s", p.Interface.Interface, o.feature, o.option, o.does)
		switch {
		case o.gathers && !gathers:
			apart = append(apart, row)
		case !slices.Contains(p.NIC.Unmet, o.feature):
			off, options = append(off, row), append(options, setting.Option{Key: o.option, Value: "on"})
		}
	}
	switch {
	case len(off) > 0:
		return rule.Fixed(p, rule.Found(p, record.Likely,
			fmt.Sprintf("offloads of %s are off that save processor time for each packet", p.Interface.Interface),
			offloadReference, off),
			nil, setting.NIC{Features: options})
	case len(apart) == 0:
		return nil
	}
	// r8169 has it off, since transmit queues of some of its chips stall with it.
	fix := fmt.Sprintf(
		"none if the driver has it off for a reason, as r8169 has for timeouts of transmit queues; to try it: ethtool -K %s sg on, then gso on tso on, and look for \"transmit queue … timed out\" in the kernel's log", p.Interface.Interface)
	if slices.Contains(p.NIC.Unmet, scatterGather) {
		fix = fmt.Sprintf(
			"it is requested: see whether transmit checksums are off, without which the kernel keeps it off: ethtool -k %s", p.Interface.Interface)
	}
	return rule.Found(p, record.Possible,
		fmt.Sprintf(
			"scatter-gather of %s is off, and segmentation offloads with it, which save processor time for each packet",
			p.Interface.Interface), offloadReference,
		append(apart, fmt.Sprintf("%s: %s (sg) is off", p.Interface.Interface, scatterGather)), fix)
}
