package snmp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

const (
	// discovery limits how long discovering a switch takes; what is not read by then is missing.
	discovery = 15 * time.Second
	// Limits of what is read from a switch.
	mostInterfaces = 1024
	mostForwarded  = 4096
	mostNeighbours = 512
)

// found is what a switch reported during discovery.
type found struct {
	system     string // its name and description
	interfaces []iface
	fdb        []learned
	neighbours []neighbour
	// lacking lists parts that could not be read, with the reason.
	lacking []string
}

// iface is an interface of the switch.
type iface struct {
	index int
	name  string // ifName, or ifDescr
}

// learned is a MAC address and the interface it was learned on.
type learned struct {
	mac   string
	index int
}

// neighbour is what the device at the other end of an interface's cable reports by LLDP.
type neighbour struct {
	index        int
	system, port string // a MAC address is formatted as one
	// The following are read by Survey alone. switches: it is a bridge or a router.
	chassis, description string
	switches             bool
}

// discover reads everything once. It fails if the switch does not answer, or not to this user.
func (d *device) discover(ctx context.Context) (*found, error) {
	ctx, cancel := context.WithTimeout(ctx, discovery)
	defer cancel()
	system, err := d.get(ctx, patience, 1, []string{sysUpTime, sysName, sysDescr})
	if err != nil {
		return nil, err
	}
	if absent(system[0]) {
		return nil, fmt.Errorf("it has no sysUpTime: the user or community may see nothing there")
	}
	f := &found{system: strings.TrimSpace(text(system[1]) + " " + text(system[2]))}
	for _, column := range []string{ifName, ifDescr} {
		if len(f.interfaces) > 0 {
			break
		}
		f.missed("interfaces", f.read(ctx, d, column, mostInterfaces, func(index []uint32, v gosnmp.SnmpPDU) {
			if len(index) == 1 && text(v) != "" {
				f.interfaces = append(f.interfaces, iface{int(index[0]), text(v)})
			}
		}))
	}
	d.readForwarding(ctx, f)
	d.readLLDP(ctx, f, lldpRemPortIDSubtype, lldpRemPortID, lldpRemSysName)
	return f, nil
}

// read walks a column; it returns an error if there are more than most rows.
func (f *found) read(ctx context.Context, d *device, column string, most int,
	row func([]uint32, gosnmp.SnmpPDU)) error {
	more, err := d.walk(ctx, column, most, row)
	if err == nil && more {
		err = fmt.Errorf("it has more than %d rows", most)
	}
	return err
}

func (f *found) missed(part string, err error) {
	if err != nil {
		f.lacking = append(f.lacking, part+": "+err.Error())
	}
}

// readForwarding reads the forwarding table by VLAN (Q-BRIDGE-MIB) or without VLANs (BRIDGE-MIB). It maps
// bridge ports to interfaces.
func (d *device) readForwarding(ctx context.Context, f *found) {
	interfaces := map[int]int{} // by port
	f.missed("forwarding table", f.read(ctx, d, dot1dBasePortIfIndex, mostInterfaces,
		func(index []uint32, v gosnmp.SnmpPDU) {
			if len(index) == 1 {
				interfaces[int(index[0])] = int(number(v))
			}
		}))
	f.fdb = nil
	for _, table := range []struct {
		column string
		before int // index elements before the MAC address
	}{{dot1qTpFdbPort, 1}, {dot1dTpFdbPort, 0}} {
		f.missed("forwarding table", f.read(ctx, d, table.column, mostForwarded,
			func(index []uint32, v gosnmp.SnmpPDU) {
				port := int(number(v))
				if len(index) != table.before+6 || port == 0 { // 0: not learned
					return
				}
				at, known := interfaces[port]
				if !known {
					at = port // some devices number both equally and lack the mapping
				}
				f.fdb = append(f.fdb, learned{hardware(index[table.before:]), at})
			}))
		if len(f.fdb) > 0 {
			break
		}
	}
}

// hardware formats a MAC address that is part of an index.
func hardware(index []uint32) string {
	bytes := lists.Map(index, func(n uint32) byte { return byte(n) })
	return macOf(bytes)
}

// macOf formats six bytes as a MAC address; empty for other lengths.
func macOf(b []byte) string {
	if len(b) != 6 {
		return ""
	}
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
}

// readLLDP reads columns of neighbours (IEEE 802.1AB, LLDP-MIB), subtypes before what they are of. Local ports
// have their own numbers: their identifier is an ifName, or else the number is taken as the ifIndex.
func (d *device) readLLDP(ctx context.Context, f *found, columns ...string) {
	local := map[uint32]int{}
	err := f.read(ctx, d, lldpLocPortID, mostInterfaces, func(index []uint32, v gosnmp.SnmpPDU) {
		if len(index) == 1 {
			if i := slices.IndexFunc(f.interfaces, func(i iface) bool { return i.name == text(v) }); i >= 0 {
				local[index[0]] = f.interfaces[i].index
			}
		}
	})
	rows := map[[2]uint32]*neighbour{}
	subtypes := map[[2]uint32]uint64{}
	for _, column := range columns {
		if err != nil {
			break
		}
		err = f.read(ctx, d, column, mostNeighbours, func(index []uint32, v gosnmp.SnmpPDU) {
			if len(index) != lldpIndexLen {
				return
			}
			port := index[lldpIndexOfLocalPort]
			key := [2]uint32{port, index[lldpIndexLen-1]}
			n := rows[key]
			if n == nil {
				at, known := local[port]
				if !known {
					at = int(port)
				}
				n = &neighbour{index: at}
				rows[key] = n
			}
			switch column {
			case lldpRemPortIDSubtype, lldpRemChassisIDSubtype:
				subtypes[key] = number(v)
			case lldpRemChassisID:
				if n.chassis = text(v); subtypes[key] == lldpChassisMAC {
					n.chassis = macOf(octets(v))
				}
			case lldpRemSysCapEnabled: // bits, of which the first is the highest
				bits := octets(v)
				n.switches = len(bits) > 0 && bits[0]&(0x80>>2|0x80>>4) != 0
			case lldpRemPortDesc:
				n.description = text(v)
			case lldpRemPortID:
				if n.port = text(v); subtypes[key] == lldpSubtypeMAC {
					n.port = macOf(octets(v))
				}
			case lldpRemSysName:
				n.system = text(v)
			}
		})
	}
	f.missed("LLDP", err)
	for _, n := range rows {
		f.neighbours = append(f.neighbours, *n)
	}
	slices.SortFunc(f.neighbours, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.system, b.system), cmp.Compare(a.port, b.port))
	})
}

// byName returns the index of the interface with this name; 0 if there is none or several.
func (f *found) byName(name string) (index int) {
	for _, i := range f.interfaces {
		if i.name == name {
			if index != 0 {
				return 0
			}
			index = i.index
		}
	}
	return index
}

// nameOf returns an interface's name; empty if there is no such interface.
func (f *found) nameOf(index int) string {
	if i := slices.IndexFunc(f.interfaces, func(i iface) bool { return i.index == index }); i >= 0 {
		return f.interfaces[i].name
	}
	return ""
}

// table returns the forwarding table with port names, those with a link in the study first, cut to what a
// record may hold.
func (f *found) table(ports []*port) []netstate.FDBEntry {
	names, peers := map[int]string{}, map[int]string{}
	for _, p := range ports {
		if p.Index != 0 {
			names[p.Index], peers[p.Index] = p.Port, p.Peer
		}
	}
	var linked, others []netstate.FDBEntry
	for _, l := range f.fdb {
		if name, is := names[l.index]; is {
			linked = append(linked, netstate.FDBEntry{MAC: l.mac, Interface: name, Peer: peers[l.index]})
		} else {
			name := f.nameOf(l.index)
			if name == "" {
				name = fmt.Sprint(l.index)
			}
			others = append(others, netstate.FDBEntry{MAC: l.mac, Interface: name})
		}
	}
	all := append(linked, others...)
	return all[:min(len(all), record.MostForwarded)]
}
