package device

// MACVLAN is the mode of a macvlan. It determines whether macvlans on the same interface can reach
// each other.
type MACVLAN string

var macvlanModes = map[MACVLAN]uint32{"private": 1, "vepa": 2, "bridge": 4} // MACVLAN_MODE_*

// Shape implements Kind.
func (m *MACVLAN) Shape(on Device, name string) Shape {
	const mode = 1 // IFLA_MACVLAN_MODE
	return Shape{
		Kind: "macvlan", Key: "macvlan", Config: "CONFIG_MACVLAN", Module: "macvlan",
		Beneath: []string{on.beneath(name)}, OnLink: true,
		Attributes: []Attribute{{Type: mode, Value: macvlanModes[*m]}},
	}
}

// Check implements Kind.
func (m *MACVLAN) Check(func(key, format string, args ...any)) {}
