package discover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/fabric"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// host is a host of a test with a NIC eth0 and an address on it.
func host(i int, address string, gateway string) Node {
	n := Node{Name: fmt.Sprint("root@h", i, ".example.org"), Via: []string{"ssh", fmt.Sprint("root@h", i)}}
	s := &n.Snapshot.Reading.Snapshot
	s.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", Index: 2, MAC: mac(i, 0), MTU: 1500, Up: true,
		Addresses: []string{address, "fe80::1/64"}, SpeedBps: 10e9}}
	s.Routes = []netstate.RouteEntry{{To: "10.0.0.0/8", Table: 254, Protocol: "kernel", Interface: "eth0"}}
	if gateway != "" {
		s.Routes = append(s.Routes, netstate.RouteEntry{To: "0.0.0.0/0", Table: 254, Via: gateway, Interface: "eth0",
			Protocol: "dhcp"})
	}
	n.Snapshot.State.FirstNamespace = true
	return n
}

func mac(host, nic int) string { return fmt.Sprintf("02:00:00:00:%02x:%02x", host, nic) }

// hears adds an LLDP neighbour.
func (n *Node) hears(at, system, chassis, port string) {
	n.Snapshot.State.LLDP = append(n.Snapshot.State.LLDP, netstate.LLDPNeighbour{Interface: at, Protocol: "LLDP",
		System: system, Chassis: chassis, Port: port, Capabilities: []string{"Bridge", "Router"},
		Addresses: []string{"192.0.2." + strings.TrimLeft(system, "leafspin")}})
}

// racks are hosts behind leaves that are known by LLDP of the hosts alone, in a subnet for each leaf.
func racks(leaves, hosts int) (list []Node) {
	for l := 1; l <= leaves; l++ {
		for h := 1; h <= hosts; h++ {
			n := host(l*16+h, fmt.Sprintf("10.0.%d.%d/24", l, h+1), fmt.Sprintf("10.0.%d.1", l))
			n.hears("eth0", fmt.Sprint("leaf", l), mac(200+l, 0), fmt.Sprint("Ethernet1/", h))
			list = append(list, n)
		}
	}
	return list
}

// leafDevice is a leaf as SNMP reads it, with its links to spines.
func leafDevice(l, spines int) fabric.Device {
	d := fabric.Device{Given: fmt.Sprint("192.0.2.", l), Credentials: "sw.snmp", Version: "2c",
		System:  fmt.Sprint("leaf", l),
		Chassis: mac(200+l, 0)}
	for s := 1; s <= spines; s++ {
		port := fmt.Sprint("Ethernet1/", 48+s)
		d.Ports = append(d.Ports, fabric.Port{Name: port, SpeedBps: 100e9})
		d.Neighbours = append(d.Neighbours, fabric.Neighbour{Local: port, Chassis: mac(100+s, 0),
			System: fmt.Sprint("spine", s), Port: fmt.Sprint("Ethernet", l), Switches: true})
	}
	for h := 1; h <= 8; h++ {
		d.Ports = append(d.Ports, fabric.Port{Name: fmt.Sprint("Ethernet1/", h), SpeedBps: 25e9})
	}
	d.Neighbours = append(d.Neighbours, fabric.Neighbour{Local: "Ethernet1/30", Chassis: mac(250, l),
		System: fmt.Sprint("db", l), Port: "eno1"})
	return d
}

func found(t *testing.T, nodes []Node, devices ...fabric.Device) fabric.Fabric {
	t.Helper()
	f, err := Fabric(nodes, devices)
	if err != nil {
		t.Fatal(err)
	}
	for kind, of := range map[string]func() error{
		"real": func() error { return checked(f, false) }, "twin": func() error { return checked(f, true) },
	} {
		if err := of(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	return f
}

// checked returns what linerate check would say of the study.
func checked(f fabric.Fabric, twin bool) error {
	of := f.Topology
	if twin {
		of = f.Twin
	}
	q, err := Question(of)
	if err != nil {
		return err
	}
	text, err := q.Text()
	if err != nil {
		return err
	}
	parsed, err := study.Parse("found.yaml", text)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	_, err = study.NewPlan(parsed)
	return err
}

func linksOf(f fabric.Fabric) (list []string) {
	return lists.Map(f.Links, func(l fabric.Link) string {
		return fmt.Sprintf("%s %s %g %s", l.From, l.To, l.RateBps/1e9, l.Source)
	})
}

func says(f fabric.Fabric, what, tell string) bool {
	return slices.ContainsFunc(f.Unknown, func(u fabric.Unknown) bool {
		return strings.Contains(u.What, what) && strings.Contains(u.Tell, tell)
	})
}

// TestLeavesOfHosts: of leaves that hosts hear, the ports and racks of hosts are known. A switch stands for
// what is between the leaves, and what would tell is said.
func TestLeavesOfHosts(t *testing.T) {
	f := found(t, racks(2, 2))
	want := []string{"h17.eth0 leaf1.Ethernet1-1 10 lldp", "h18.eth0 leaf1.Ethernet1-2 10 lldp",
		"h33.eth0 leaf2.Ethernet1-1 10 lldp", "h34.eth0 leaf2.Ethernet1-2 10 lldp", "leaf1.core core.leaf1 0 assumed",
		"leaf2.core core.leaf2 0 assumed"}
	if got := linksOf(f); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if r := f.Racks(); r["h17"] != "leaf1" || r["h34"] != "leaf2" {
		t.Errorf("%v", r)
	}
	if !says(f, "how leaf1 and leaf2 are connected: core stands for it", "--switch") ||
		!says(f, "which other switches and hosts leaf1 is connected to", "--switch 192.0.2.1") {
		t.Errorf("%q", f.Unknown)
	}
	for _, s := range f.Topology.Switches {
		if !s.Unmanaged {
			t.Errorf("%+v", s)
		}
	}
	// In the lab the leaves route, since each subnet has a gateway that is no host.
	if len(f.Twin.Switches) != 0 || len(f.Twin.Hosts) != 7 || f.Twin.Hosts[0].BGP == nil ||
		len(f.Twin.Hosts[0].Via) > 0 ||
		f.Twin.Hosts[0].Interfaces[0].Addresses[0].String() != "10.0.1.2/32" {
		t.Errorf("%+v", f.Twin)
	}
}

// TestFabricBySNMP: with the leaves' SNMP the uplinks are known with their rates, the two paths are taken,
// and nothing is assumed.
func TestFabricBySNMP(t *testing.T) {
	f := found(t, racks(2, 2), leafDevice(1, 2), leafDevice(2, 2))
	want := []string{"h17.eth0 leaf1.Ethernet1-1 10 lldp", "h18.eth0 leaf1.Ethernet1-2 10 lldp",
		"h33.eth0 leaf2.Ethernet1-1 10 lldp", "h34.eth0 leaf2.Ethernet1-2 10 lldp",
		"leaf1.Ethernet1-49 spine1.Ethernet1 100 lldp", "leaf1.Ethernet1-50 spine2.Ethernet1 100 lldp",
		"leaf2.Ethernet1-49 spine1.Ethernet2 100 lldp", "leaf2.Ethernet1-50 spine2.Ethernet2 100 lldp"}
	if got := linksOf(f); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if slices.ContainsFunc(f.Switches, func(s fabric.Switch) bool { return s.Assumed }) || len(f.Switches) != 4 {
		t.Errorf("%+v", f.Switches)
	}
	if !says(f, "1 neighbours of leaf1 that were not named: db1", "name them") {
		t.Errorf("%q", f.Unknown)
	}
	q, err := Question(f.Topology)
	if err != nil || q.Workload.Flows[0].From[:3] == q.Workload.Flows[0].To[:3] && len(f.Hosts) > 0 &&
		f.Racks()[q.Workload.Flows[0].From] == f.Racks()[q.Workload.Flows[0].To] {
		t.Errorf("flows %+v, %v", q.Workload.Flows, err)
	}
	i := slices.IndexFunc(f.Topology.Switches, func(s topology.Switch) bool { return s.Name == "leaf1" })
	if s := f.Topology.Switches[i].SNMP; s == nil || s.Address != "192.0.2.1" || s.Credentials != "sw.snmp" ||
		s.Interface("Ethernet1-49") != "Ethernet1/49" {
		t.Errorf("%+v", f.Topology.Switches[i])
	}
	// Any order of the hosts gives the same links.
	nodes := racks(2, 2)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	if got := linksOf(found(t, nodes, leafDevice(2, 2), leafDevice(1, 2))); !slices.Equal(got, want) {
		t.Errorf("in another order: %q", got)
	}
}

// TestForwardingTable: where nothing is said by LLDP, a host is at the port that has its MAC address alone.
func TestForwardingTable(t *testing.T) {
	nodes := []Node{host(1, "10.0.1.2/24", ""), host(2, "10.0.1.3/24", ""), host(3, "10.0.1.4/24", "")}
	one := fabric.Device{Given: "192.0.2.1", Credentials: "x", System: "access1", Chassis: mac(201, 0),
		Forwarding: []fabric.Entry{{MAC: mac(1, 0), Port: "gi1"}, {MAC: mac(2, 0), Port: "gi2"}, {MAC: mac(3, 0),
			Port: "gi9"}},
		Neighbours: []fabric.Neighbour{{Local: "gi9", Chassis: mac(202, 0), System: "access2", Port: "gi9",
			Switches: true}}}
	two := fabric.Device{Given: "192.0.2.2", Credentials: "x", System: "access2", Chassis: mac(202, 0),
		Forwarding: []fabric.Entry{{MAC: mac(1, 0), Port: "gi9"}, {MAC: mac(2, 0), Port: "gi9"},
			{MAC: strings.ToUpper(mac(3, 0)), Port: "gi3"}}}
	want := []string{"access1.gi9 access2.gi9 0 lldp", "h1.eth0 access1.gi1 10 forwarding",
		"h2.eth0 access1.gi2 10 forwarding",
		"h3.eth0 access2.gi3 10 forwarding"}
	f := found(t, nodes, one, two)
	if got := linksOf(f); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !says(f, "the rate of the link access1.gi9 – access2.gi9", "ethtool") {
		t.Errorf("%q", f.Unknown)
	}
	// Switches without loops are switches in a lab, too.
	if len(f.Twin.Switches) != 2 || f.Twin.Hosts[0].BGP != nil {
		t.Errorf("%+v", f.Twin)
	}
}

// TestSegments: hosts that see each other alone have a cable; several on a segment a switch between them.
func TestSegments(t *testing.T) {
	sees := func(n *Node, others ...int) {
		for _, o := range others {
			n.Snapshot.Reading.Snapshot.Neighbours = append(n.Snapshot.Reading.Snapshot.Neighbours, netstate.Neighbour{
				Interface: "eth0", Address: fmt.Sprint("10.0.1.", o), MAC: mac(o, 0), State: "STALE"})
		}
	}
	a, z := host(1, "10.0.1.1/24", ""), host(2, "10.0.1.2/24", "")
	sees(&a, 2)
	if got := linksOf(found(t, []Node{a, z})); !slices.Equal(got, []string{"h1.eth0 h2.eth0 10 neighbours"}) {
		t.Errorf("%q", got)
	}
	sees(&a, 77) // a machine that was not named
	f := found(t, []Node{a, z})
	if got := linksOf(f); len(got) != 2 || !strings.HasPrefix(got[0], "h1.eth0 lan.") ||
		!says(f, "what connects h1.eth0 and h2.eth0: lan stands for it", "--switch") {
		t.Errorf("%q, %q", got, f.Unknown)
	}
	c := host(3, "10.0.1.3/24", "") // of the same network
	if got := linksOf(found(t, []Node{host(1, "10.0.1.1/24", ""), z, c})); len(got) != 3 {
		t.Errorf("%q", got)
	}
	if got := linksOf(found(t, []Node{host(1, "10.0.1.1/30", ""), host(2, "10.0.1.2/30", "")})); !slices.Equal(got,
		[]string{"h1.eth0 h2.eth0 10 addresses"}) {
		t.Errorf("%q", got)
	}
	if _, err := Fabric([]Node{{Name: "a"}, {Name: "b"}}, nil); err == nil || !strings.Contains(err.Error(),
		"no link was found") {
		t.Error(err)
	}
}

// TestDevices: a bond over two leaves with a VLAN on it has both links; in a lab its addresses are on the
// first. A bridge has the cable of its NIC, and containers' interfaces are none.
func TestDevices(t *testing.T) {
	nodes := racks(2, 1)
	n := host(9, "10.0.9.9/24", "")
	s := &n.Snapshot.Reading.Snapshot
	s.Interfaces = []netstate.InterfaceSnapshot{
		{Interface: "eno1", Index: 2, MAC: mac(9, 0), MTU: 9000, Up: true, Master: "bond0", SpeedBps: 25e9},
		{Interface: "eno2", Index: 3, MAC: mac(9, 0), MTU: 9000, Up: true, Master: "bond0", SpeedBps: 25e9},
		{Interface: "bond0", Index: 4, MAC: mac(9, 0), MTU: 9000, Up: true, Kind: "bond"},
		{Interface: "storage", Index: 5, MAC: mac(9, 0), MTU: 9000, Up: true, Kind: "vlan",
			Addresses: []string{"10.0.9.9/24", "10.0.9.255/24"}},
		{Interface: "veth7", Index: 6, MAC: mac(9, 7), MTU: 1500, Up: true, Kind: "veth",
			Addresses: []string{"172.17.0.1/16"}},
		{Interface: "eno3", Index: 7, MAC: mac(9, 3), MTU: 1500, Up: true, Master: "br0", SpeedBps: 1e9},
		{Interface: "br0", Index: 8, MAC: mac(9, 3), MTU: 1500, Up: true, Kind: "bridge",
			Addresses: []string{"192.0.2.99/24", "10.0.1.2/24"}},
	}
	s.Routes = nil
	n.Snapshot.State.NICs = []netstate.NIC{{Interface: "storage", VLAN: 7, Peer: 4}}
	n.Snapshot.State.Bonds = []netstate.Bond{{Interface: "bond0", Mode: "802.3ad", HashPolicy: "layer3+4"}}
	n.hears("eno1", "leaf1", mac(201, 0), "Ethernet1/20")
	n.hears("eno2", "leaf2", mac(202, 0), "Ethernet1/20")
	n.hears("eno3", "leaf1", mac(201, 0), "Ethernet1/21")
	f := found(t, append(nodes, n))
	h, _ := f.Topology.Host("h9")
	var names []string
	for _, p := range h.Interfaces {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"eno1", "eno2", "br0", "bond0", "storage"}) {
		t.Errorf("%v", names)
	}
	bond, _ := h.Interface("bond0")
	vlan, _ := h.Interface("storage")
	if bond.Bond == nil || bond.Bond.Policy != "layer3+4" || len(bond.Bond.Members) != 2 || vlan.VLAN == nil ||
		vlan.Link != "bond0" || len(vlan.Addresses) != 1 {
		t.Errorf("%+v, %+v", bond, vlan)
	}
	// 10.0.1.2 is that of h17 already.
	if br, _ := h.Interface("br0"); len(br.Addresses) != 1 || !says(f, "packets for 10.0.1.2", "left out") {
		t.Errorf("%+v, %q", br, f.Unknown)
	}
	twin, _ := f.Twin.Host("h9")
	if p, _ := twin.Interface("eno1"); len(p.Addresses) != 1 || len(twin.Interfaces) != 3 {
		t.Errorf("%+v", twin)
	}
}

// TestBondsOfTwins: the switch of a lab has a host's bond, too; one over two switches is left with a member.
func TestBondsOfTwins(t *testing.T) {
	bonded := func(second string) (nodes []Node) {
		a, z := host(1, "10.0.1.1/24", ""), host(2, "10.0.1.2/24", "")
		z.hears("eth0", "leaf1", mac(201, 0), "p2")
		s := &a.Snapshot.Reading.Snapshot
		s.Interfaces = []netstate.InterfaceSnapshot{
			{Interface: "eno1", Index: 2, MAC: mac(1, 0), MTU: 1500, Up: true, Master: "bond0", SpeedBps: 1e9},
			{Interface: "eno2", Index: 3, MAC: mac(1, 0), MTU: 1500, Up: true, Master: "bond0", SpeedBps: 1e9},
			{Interface: "bond0", Index: 4, MAC: mac(1, 0), MTU: 1500, Up: true, Kind: "bond",
				Addresses: []string{"10.0.1.1/24"}},
		}
		a.Snapshot.State.Bonds = []netstate.Bond{{Interface: "bond0", Mode: "802.3ad", HashPolicy: "layer2+3"}}
		a.hears("eno1", "leaf1", mac(201, 0), "p10")
		a.hears("eno2", second, mac(201, len(second)-5), "p11")
		return []Node{a, z}
	}
	f := found(t, bonded("leaf1"))
	if s := f.Twin.Switches[0]; len(s.Ports) != 1 || s.Ports[0].Bond == nil || len(s.Ports[0].Bond.Members) != 2 {
		t.Errorf("%+v", f.Twin)
	}
	f = found(t, bonded("leaf22"))
	h, _ := f.Twin.Host("h1")
	if p, is := h.Interface("bond0"); !is || len(p.Bond.Members) != 1 || len(h.Interfaces) != 2 {
		t.Errorf("%+v", f.Twin)
	}
}

// TestRouters: a host that forwards for its containers alone is no router; one that others use is.
func TestRouters(t *testing.T) {
	nodes := racks(1, 3)
	for i := range nodes {
		nodes[i].Snapshot.Reading.Snapshot.Sysctls = map[string]string{"net.ipv4.ip_forward": "1"}
	}
	nodes[0].Snapshot.Reading.Snapshot.Routes = []netstate.RouteEntry{{To: "10.9.0.0/16", Table: 254, Via: "10.0.1.3",
		Interface: "eth0"}}
	f := found(t, nodes)
	if f.Hosts[0].Router || !f.Hosts[1].Router || f.Hosts[2].Router || f.Topology.Hosts[0].Forward {
		t.Errorf("%+v", f.Hosts)
	}
}

// TestSenderHashes: of a host with two uplinks, whose routes have two next hops, the study has also chosen
// ports, as ecmp-hash; in a lab with switches that are not read, too.
func TestSenderHashes(t *testing.T) {
	var nodes []Node
	for i := 1; i <= 2; i++ {
		n := host(i, fmt.Sprintf("10.0.200.%d/32", i), "")
		s := &n.Snapshot.Reading.Snapshot
		s.Interfaces = append(s.Interfaces, netstate.InterfaceSnapshot{Interface: "eth1", Index: 3, MAC: mac(i, 1),
			MTU: 1500,
			Up:  true, SpeedBps: 10e9})
		s.Routes = []netstate.RouteEntry{{To: "10.0.200.0/24", Table: 254, Protocol: "bgp",
			Nexthops: []netstate.RouteNexthop{
				{Interface: "eth0", Via: "fe80::a", Weight: 1}, {Interface: "eth1", Via: "fe80::b", Weight: 1}}}}
		n.hears("eth0", "spine1", mac(101, 0), fmt.Sprint("Ethernet", i))
		n.hears("eth1", "spine2", mac(102, 0), fmt.Sprint("Ethernet", i))
		nodes = append(nodes, n)
	}
	f := found(t, nodes)
	for _, of := range []topology.Topology{f.Topology, f.Twin} {
		q, err := Question(of)
		if err != nil || len(q.Factors) != 2 || len(q.Factors[0].Levels) != 3 ||
			q.Factors[0].Levels[2].Workload.SourcePorts != "even" {
			t.Errorf("%+v, %v", q, err)
		}
	}
}

// TestManyHosts: of hundreds of hosts a fabric is derived, and its study is checked, in seconds.
func TestManyHosts(t *testing.T) {
	nodes := racks(32, 15)
	var devices []fabric.Device
	for l := 1; l <= 32; l++ {
		devices = append(devices, leafDevice(l, 8))
	}
	f := found(t, nodes, devices...)
	if len(f.Links) != 32*15+32*8 || len(f.Racks()) != 480 {
		t.Errorf("%d links, %d racks", len(f.Links), len(f.Racks()))
	}
}

// TestHostileNames: whatever neighbours call themselves, names are names, and different.
func TestHostileNames(t *testing.T) {
	nodes := racks(1, 6)
	for i, name := range []string{"core", "h17", "--lab", "ä: {{x}}\t", strings.Repeat("x", 200), "a.b.c"} {
		nodes[i].Snapshot.State.LLDP[0].System = name
		nodes[i].Snapshot.State.LLDP[0].Chassis = mac(240, i)
		nodes[i].Snapshot.State.LLDP[0].Port = []string{"lo", "a:b/c", "", "all", strings.Repeat("9", 99), "../.."}[i]
	}
	f := found(t, nodes)
	seen := map[string]bool{}
	for _, s := range f.Switches {
		if seen[s.Name] || len(s.Name) > longestNode || s.Name == "h17" {
			t.Errorf("%q", s.Name)
		}
		seen[s.Name] = true
	}
	if len(f.Switches) != 7 {
		t.Errorf("%+v", f.Switches)
	}
}

// TestNatural: names with numbers are in the order of the numbers.
func TestNatural(t *testing.T) {
	list := []string{"leaf10", "leaf2", "a", "leaf02", "leaf2.swp10", "leaf2.swp9", "leaf"}
	slices.SortFunc(list, natural)
	if want := []string{"a", "leaf", "leaf02", "leaf2", "leaf2.swp9", "leaf2.swp10", "leaf10"}; !slices.Equal(list,
		want) {
		t.Errorf("%v", list)
	}
}
