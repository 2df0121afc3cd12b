package nic

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
)

// offloads are the features without which each packet costs more CPU time, with their names for
// ethtool(8). Software devices have only some of them on by default; veth, for example, has GRO
// off. The kernel switches off those that need scatter-gather if that is off (netdev_fix_features).
var offloads = []struct {
	feature, option   string
	software, gathers bool
}{
	{"rx-gro", "gro", false, false},
	{"tx-generic-segmentation", "gso", true, true},
	{"tx-tcp-segmentation", "tso", true, true},
	{"rx-checksum", "rx", false, false},
}

const scatterGather = "tx-scatter-gather"

// offloadOff finds offloads that a command can switch on. No command can if the offload is
// requested and still off: then the driver or another feature, such as checksums, keeps it off.
func offloadOff(p facts.Port) *record.Finding {
	var off, apart []any
	var options []setting.Option
	gathers, has := p.NIC.Features[scatterGather]
	gathers = gathers || !has
	for _, o := range offloads {
		on, has := p.NIC.Features[o.feature]
		if !has || on || slices.Contains(p.NIC.Fixed, o.feature) || !p.Hardware() && !o.software {
			continue
		}
		is := fact.OffloadOff{Interface: p.Interface.Interface, Feature: o.feature, Option: o.option}
		switch {
		case o.gathers && !gathers:
			apart = append(apart, is)
		case !slices.Contains(p.NIC.Unmet, o.feature):
			off, options = append(off, is), append(options, setting.Option{Key: o.option, Value: "on"})
		}
	}
	switch {
	case len(off) > 0:
		return facts.FoundOn(cause.OffloadOff, p, record.Likely, cause.Offload{}).With(p.Host.Name, off...).
			Fixed(optionsOf(p, setting.NIC{Features: options})...)
	case len(apart) == 0:
		return nil
	}
	args := cause.Offload{NoGather: true, Requested: slices.Contains(p.NIC.Unmet, scatterGather)}
	return facts.FoundOn(cause.OffloadOff, p, record.Possible, args).With(p.Host.Name,
		append(apart, fact.OffloadOff{Interface: p.Interface.Interface, Feature: scatterGather, Option: "sg"})...)
}

// paravirtual are the drivers of NICs whose features the hypervisor chooses.
var paravirtual = []string{"virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront", "vif"}

// offloadsNotOffered finds a NIC of a virtual machine without segmentation offload, which no command in
// the machine can switch on: the hypervisor does not offer it.
func offloadsNotOffered(p facts.Port) *record.Finding {
	const feature = "tx-tcp-segmentation"
	_, has := p.NIC.Features[feature]
	// A snapshot leaves out what is off and fixed; a text has it, if it has the line.
	fixed := slices.Contains(p.NIC.Fixed, feature) || len(p.Host.Pasted) == 0 && len(p.NIC.Features) > 0
	if has || !fixed || !slices.Contains(paravirtual, p.NIC.CounterDriver()) {
		return nil
	}
	return facts.FoundOn(cause.OffloadsNotOffered, p, record.Likely, cause.None{}).With(p.Host.Name,
		fact.Driver{Interface: p.Interface.Interface, Driver: p.NIC.CounterDriver()},
		fact.OffloadOff{Interface: p.Interface.Interface, Feature: feature, Option: "tso", Fixed: true})
}

// optionsOf returns the step that sets options of an interface.
func optionsOf(p facts.Port, options setting.NIC) []record.Step {
	options.Interface = p.Interface.Interface
	return record.Settings(setting.Setting{Host: p.Host.Name, NIC: &options})
}
