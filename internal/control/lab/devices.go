package lab

import (
	"fmt"
	"slices"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/device"
)

// lacpTimeout bounds the wait for both ends of a bond's members to agree; they take a few
// seconds.
const lacpTimeout = 30 * time.Second

// isMember reports whether an interface is a member of a device, such as a bond.
func (n planNode) isMember(name string) bool {
	return slices.ContainsFunc(n.Devices, func(d planDevice) bool {
		s := d.shape()
		return s.Members && slices.Contains(s.Slaves, name)
	})
}

func (d planDevice) shape() device.Shape {
	s, _ := d.Device.Shape(d.Interface)
	return s
}

// probeDevices reports the kinds of device that the kernel lacks, and for which nodes. It is
// called before anything of the lab is made.
func probeDevices(p plan) error {
	var ns *netlink.Namespace
	has := map[string]bool{}
	for _, n := range p.Nodes {
		for _, d := range n.Devices {
			if err := probeKind(&ns, has, n.Name, d.shape()); err != nil {
				return err
			}
		}
		if n.VLANs != nil {
			filtering := device.Shape{Kind: "bridge with VLANs", Config: "CONFIG_BRIDGE_VLAN_FILTERING",
				Module: "bridge"}
			if err := probeKind(&ns, has, n.Name, filtering); err != nil {
				return err
			}
		}
	}
	if ns != nil {
		ns.Close()
	}
	return nil
}

// probeKind tries a kind once, in a namespace that it makes when it is the first.
func probeKind(ns **netlink.Namespace, has map[string]bool, node string, s device.Shape) (err error) {
	if *ns == nil {
		if *ns, err = netlink.NewNamespace("probe"); err != nil {
			return err
		}
	}
	known, tried := has[s.Kind]
	if !tried {
		if s.Key == "" {
			known = (*ns).HasVLANFiltering()
		} else {
			known = (*ns).HasDevices(s)
		}
		has[s.Kind] = known
	}
	if !known {
		return fmt.Errorf(
			"%s: this kernel (%s) has no %s: it needs the module %s (modprobe %s), which a kernel has with %s",
			node, proc.Release(), s.Kind, s.Module, s.Module, s.Config)
	}
	return nil
}

// makeDevices makes the devices of all nodes, on top of the links, and adds those of switches
// to the bridge.
func makeDevices(p plan, nodes []*netlink.Namespace) error {
	for i, n := range p.Nodes {
		for _, d := range n.Devices {
			if err := nodes[i].AddDevice(netlink.Device{Interface: d.Interface, MAC: d.MAC, MTU: d.MTU,
				Shape: d.shape()}); err != nil {
				return err
			}
			if n.Switch {
				if err := nodes[i].SetMaster(d.Interface, bridgeName); err != nil {
					return err
				}
			}
		}
		for port, vlans := range n.VLANs {
			if vlans.Untagged != 0 {
				if err := nodes[i].AddVLAN(port, vlans.Untagged, true); err != nil {
					return err
				}
			}
			for _, v := range vlans.Tagged {
				if err := nodes[i].AddVLAN(port, v, false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// awaitLACP waits until all members of bonds carry data.
func awaitLACP(p plan, nodes []*netlink.Namespace) error {
	end := time.Now().Add(lacpTimeout)
	for i, n := range p.Nodes {
		for _, d := range n.Devices {
			s := d.shape()
			if !s.LACP {
				continue
			}
			for _, member := range s.Slaves {
				if err := nodes[i].AwaitLACP(member, time.Until(end)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
