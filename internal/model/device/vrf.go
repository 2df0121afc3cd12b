package device

// VRF gives some interfaces of a router a routing table of their own
// (Documentation/networking/vrf.rst).
type VRF struct {
	Table   int      `yaml:"table,required" json:"table" doc:"the number of its routing table"`
	Members []string `yaml:"members,required" json:"members" doc:"the interfaces that look routes up there"`
}

// Shape implements Kind.
func (v *VRF) Shape(Device, string) Shape {
	const table = 1 // IFLA_VRF_TABLE
	return Shape{
		Kind: "vrf", Key: "vrf", Config: "CONFIG_NET_VRF", Module: "vrf",
		Slaves: v.Members, Table: v.Table, Loose: true,
		Attributes: []Attribute{{Type: table, Value: uint32(v.Table)}},
	}
}

// Check implements Kind.
func (v *VRF) Check(report func(key, format string, args ...any)) {
	switch {
	case v.Table < 1 || v.Table > 1<<31-1:
		report(".table", "table %d: expected 1 to %d", v.Table, 1<<31-1)
	case v.Table >= 253 && v.Table <= 255:
		report(".table", "table %d is one of the kernel's own (253 to 255)", v.Table)
	}
	if twice, is := repeated(v.Members); is {
		report(".members", "%s is listed twice", twice)
	}
}
