package pasted

import (
	"slices"
	"strings"

	"linerate/internal/model/netstate"
)

// features maps ethtool's names of features to the kernel's if they differ.
var features = map[string]string{
	"rx-checksumming": "rx-checksum", "generic-segmentation-offload": "tx-generic-segmentation",
	"generic-receive-offload": "rx-gro", "large-receive-offload": "rx-lro", "rx-vlan-offload": "rx-vlan-hw-parse",
	"tx-vlan-offload": "tx-vlan-hw-insert",
	"ntuple-filters":  "rx-ntuple-filter", "receive-hashing": "rx-hashing",
}

// groups maps ethtool's names of groups of features to the kernel's name of the feature that the
// group was before Linux 2.6.39. Empty: the group was no single feature. Since ethtool 3.4 the
// members follow, and a group is on if one of them is.
var groups = map[string]string{"tcp-segmentation-offload": "tx-tcp-segmentation",
	"scatter-gather": "tx-scatter-gather", "tx-checksumming": "", "udp-fragmentation-offload": ""}

// mostFeatures limits the features of an interface. Linux has fewer than 100.
const mostFeatures = 500

// feature parses a line of ethtool -k:
//
//	tx-tcp-segmentation: off [fixed]
func (m *machine) feature(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	state, rest, _ := strings.Cut(row[2], " ")
	if state != "on" && state != "off" {
		return false
	}
	name := row[1]
	if kernel, is := groups[name]; is && (!m.eth.old || kernel == "") {
		return m.ignore()
	} else if is {
		name = kernel
	} else if kernel := features[name]; kernel != "" {
		name = kernel
	}
	setFeature(nic, name, state == "on", strings.Contains(rest, "[fixed]"), strings.Contains(rest, "[requested on]"))
	return true
}

// setFeature stores the state of a feature by the kernel's name. One that is off and fixed is not
// supported by the interface: it is among the fixed ones only.
func setFeature(nic *netstate.NIC, name string, on, fixed, requested bool) {
	if len(nic.Features) >= mostFeatures || len(nic.Fixed) >= mostFeatures {
		return
	}
	if nic.Features == nil {
		nic.Features = map[string]bool{}
	}
	known := slices.Contains(nic.Fixed, name)
	if fixed && !known {
		nic.Fixed = append(nic.Fixed, name)
	}
	switch {
	case fixed && !on:
		delete(nic.Features, name)
	case !known || fixed:
		nic.Features[name] = on
	}
	if !on && !fixed && requested && !slices.Contains(nic.Unmet, name) {
		nic.Unmet = append(nic.Unmet, name)
	}
}
