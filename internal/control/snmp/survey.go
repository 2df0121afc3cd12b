package snmp

import (
	"context"
	"fmt"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/model/fabric"
	"linerate/internal/model/topology"
)

// Survey reads what a switch says of its ports, of the neighbours at them and of the MAC addresses behind
// them. It fails if the switch does not answer or rejects the credentials; what else cannot be read is in
// Missing.
func Survey(ctx context.Context, s *topology.SNMP, c Credentials) (fabric.Device, error) {
	out := fabric.Device{Given: s.Address, Credentials: s.Credentials, Version: s.Version}
	one, err := Open(ctx, s.Address, s, c, nil)
	if err != nil {
		return out, err
	}
	defer one.Close()
	if err := one.Discover(ctx, nil); err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, discovery)
	defer cancel()
	d, f := one.device, one.found
	f.neighbours = nil
	d.readLLDP(ctx, f, lldpRemChassisIDSubtype, lldpRemChassisID, lldpRemPortIDSubtype, lldpRemPortID, lldpRemSysName,
		lldpRemPortDesc, lldpRemSysCapEnabled)
	ports := map[int]*fabric.Port{}
	for _, i := range f.interfaces {
		ports[i.index] = &fabric.Port{Name: i.name}
	}
	for _, column := range []string{ifHighSpeed, ifPhysAddress} {
		f.missed("interfaces", f.read(ctx, d, column, mostInterfaces, func(index []uint32, v gosnmp.SnmpPDU) {
			switch {
			case len(index) != 1 || ports[int(index[0])] == nil:
			case column == ifHighSpeed:
				ports[int(index[0])].SpeedBps = float64(min(number(v), mostMbps)) * 1e6
			default:
				ports[int(index[0])].MAC = macOf(octets(v))
			}
		}))
	}
	if own, err := d.get(ctx, patience, 1, []string{lldpLocChassisIDSubtype, lldpLocChassisID, sysName}); err != nil {
		f.missed("its own names", err)
	} else {
		if out.Chassis, out.System = text(own[1]), text(own[2]); number(own[0]) == lldpChassisMAC {
			out.Chassis = macOf(octets(own[1]))
		}
	}
	for _, i := range f.interfaces {
		out.Ports = append(out.Ports, *ports[i.index])
	}
	for _, n := range f.neighbours {
		if name := f.nameOf(n.index); name != "" {
			out.Neighbours = append(out.Neighbours, fabric.Neighbour{Local: name, Chassis: n.chassis, System: n.system,
				Port: n.port, Description: n.description, Switches: n.switches})
		}
	}
	for _, l := range f.fdb {
		if name := f.nameOf(l.index); name != "" {
			out.Forwarding = append(out.Forwarding, fabric.Entry{MAC: l.mac, Port: name})
		}
	}
	for _, why := range f.lacking {
		out.Missing = append(out.Missing, fmt.Sprintf("%s: %s", s.Address, why))
	}
	return out, nil
}

// mostMbps bounds what a switch may say of a port's rate, in Mbit/s.
const mostMbps = 10_000_000
