package device

// VLAN is a VLAN identifier (IEEE 802.1Q).
type VLAN int

// Bounds of VLAN identifiers; 0 and 4095 are reserved.
const (
	minVLAN = 1
	maxVLAN = 4094
)

// TagBytes is the length of an 802.1Q tag.
const TagBytes = 4

// Valid reports whether v is a usable VLAN identifier.
func (v VLAN) Valid() bool { return v >= minVLAN && v <= maxVLAN }

// Shape implements Kind.
func (v *VLAN) Shape(on Device, name string) Shape {
	const id = 1 // IFLA_VLAN_ID
	return Shape{
		Kind: "vlan", Key: "vlan", Config: "CONFIG_VLAN_8021Q", Module: "8021q",
		Beneath: []string{on.beneath(name)}, OnLink: true, SharesMAC: true, Tag: int(*v),
		Attributes: []Attribute{{Type: id, Value: uint16(*v)}},
	}
}

// Check implements Kind.
func (v *VLAN) Check(report func(key, format string, args ...any)) {
	if !v.Valid() {
		report("", "VLAN %d: expected %d to %d", *v, minVLAN, maxVLAN)
	}
}
