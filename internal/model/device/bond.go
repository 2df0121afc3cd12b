package device

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
)

// Bond joins the links of several interfaces (Documentation/networking/bonding.rst).
type Bond struct {
	Mode    string   `yaml:"mode,required" json:"mode" doc:"802.3ad: the two ends agree by LACP; balance-xor: they do not; both place each flow on a member by a hash. active-backup: one member at a time" enum:"802.3ad,balance-xor,active-backup"`
	Policy  string   `yaml:"xmit_hash_policy" json:"xmit_hash_policy,omitempty" doc:"what is hashed: MAC addresses, also IP addresses, or IP addresses and ports; layer2 when absent" enum:"layer2,layer2+3,layer3+4,encap2+3,encap3+4,vlan+srcmac"`
	Members []string `yaml:"members,required" json:"members" doc:"the interfaces that it joins, in the order in which the hash numbers them"`
}

// Names of modes that have special rules.
const (
	activeBackup = "active-backup"
	lacp         = "802.3ad"
)

var (
	bondModes    = map[string]uint8{activeBackup: 1, "balance-xor": 2, lacp: 4}
	bondPolicies = []string{"layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"}
)

// PolicyNumber returns the kernel's number of a policy. It returns false for an unknown name.
func PolicyNumber(name string) (uint8, bool) {
	i := slices.Index(bondPolicies, name)
	return uint8(max(0, i)), i >= 0
}

// PolicyOf returns the name of the policy with a number. Empty: unknown.
func PolicyOf(number uint8) string {
	if int(number) < len(bondPolicies) {
		return bondPolicies[number]
	}
	return ""
}

// policy returns the number of the policy, 0 if absent.
func (b *Bond) policy() uint8 { return uint8(max(0, slices.Index(bondPolicies, b.Policy))) }

// PolicyName returns the policy, or the kernel's default if it is absent.
func (b *Bond) PolicyName() string { return bondPolicies[b.policy()] }

// Shape implements Kind.
func (b *Bond) Shape(Device, string) Shape {
	const mode, miimon, policy = 1, 3, 14 // IFLA_BOND_*
	s := Shape{
		Kind: "bond", Key: "bond", Config: "CONFIG_BONDING", Module: "bonding",
		Beneath: b.Members, Slaves: b.Members, Members: true, Spread: b, Policy: b.PolicyName(), LACP: b.Mode == lacp,
		Attributes: []Attribute{{Type: mode, Value: bondModes[b.Mode]}, {Type: miimon, Value: uint32(100)}},
	}
	if b.Mode == activeBackup {
		// Without a primary the first member that is up.
		s.Beneath, s.Spread = b.Members[:min(1, len(b.Members))], nil
		return s
	}
	s.Attributes = append(s.Attributes, Attribute{Type: policy, Value: b.policy()})
	return s
}

// Check implements Kind.
func (b *Bond) Check(report func(key, format string, args ...any)) {
	if len(b.Members) == 0 {
		report(".members", "no members: a bond joins at least one interface")
	}
	if twice, is := repeated(b.Members); is {
		report(".members", "%s is listed twice", twice)
	}
	if b.Mode == activeBackup && b.Policy != "" {
		report(".xmit_hash_policy", "a bond in mode active-backup sends by one member and hashes nothing")
	}
}

// Hashes implements Spread.
func (b *Bond) Hashes() Hashed {
	switch b.PolicyName() {
	case "layer2+3", "encap2+3":
		return Hashed{MACs: true, Addresses: true}
	case "layer3+4", "encap3+4":
		return Hashed{Addresses: true, Ports: true}
	}
	return Hashed{MACs: true}
}

// Choose implements Spread by the formulas of bonding.rst, xmit_hash_policy, as Linux 5.15 and
// later compute them on a little-endian machine (bond_xmit_hash in
// drivers/net/bonding/bond_main.c). Older kernels hash the Ethernet type in network byte order, and
// distributions backport the change. For such a kernel a choice that depends on the byte order is
// reported as unknown.
func (b *Bond) Choose(p Packet, n int) (int, string) {
	if n < 1 {
		return 0, "the bond has no members"
	}
	kind := uint16(0x0800) // inside an 802.1Q tag: the kernel keeps tags apart
	if p.Destination.Addr().Unmap().Is6() {
		kind = 0x86dd
	}
	member, why := b.choose(p, kind, n)
	if before, _ := b.choose(p, bits.ReverseBytes16(kind), n); before != member && older(p.Kernel) {
		return 0,
			"before Linux 5.15 the hash had Ethernet's type in another byte order, which decides here, and its " +
				"kernel is " + p.Kernel
	}
	return member, why
}

// older reports whether a kernel release is before Linux 5.15. It is false if release cannot be
// parsed.
func older(release string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return n == 2 && (major < 5 || major == 5 && minor < 15)
}

// choose computes Choose for a given value of the Ethernet type.
func (b *Bond) choose(p Packet, kind uint16, n int) (int, string) {
	var hash uint32
	switch b.PolicyName() {
	case "vlan+srcmac":
		vendor := uint32(p.SourceMAC[0])<<16 | uint32(p.SourceMAC[1])<<8 | uint32(p.SourceMAC[2])
		device := uint32(p.SourceMAC[3])<<16 | uint32(p.SourceMAC[4])<<8 | uint32(p.SourceMAC[5])
		hash = uint32(p.VLAN) ^ vendor ^ device
	case "layer2":
		hash = ethernetHash(p, kind)
	case "layer2+3", "encap2+3":
		hash = fold(ethernetHash(p, kind) ^ addressHash(p))
	case "layer3+4":
		ports := binary.BigEndian.AppendUint16(nil, p.Source.Port())
		ports = binary.BigEndian.AppendUint16(ports, p.Destination.Port())
		// The lowest bit is discarded, since many programs choose even ports.
		hash = fold(binary.LittleEndian.Uint32(ports)^addressHash(p)) >> 1
	default:
		return 0, "encap3+4 uses the hash of the sending socket, which is drawn for each connection"
	}
	return int(hash % uint32(n)), ""
}

func ethernetHash(p Packet, kind uint16) uint32 {
	return uint32(p.DestinationMAC[5]) ^ uint32(p.SourceMAC[5]) ^ uint32(kind)
}

func addressHash(p Packet) (hash uint32) {
	for _, a := range []netip.Addr{p.Source.Addr().Unmap(), p.Destination.Addr().Unmap()} {
		for bytes := a.AsSlice(); len(bytes) > 0; bytes = bytes[4:] {
			hash ^= binary.LittleEndian.Uint32(bytes)
		}
	}
	return hash
}

func fold(hash uint32) uint32 {
	hash ^= hash >> 16
	return hash ^ hash>>8
}
