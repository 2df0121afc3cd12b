package device

// Dummy has addresses and no link (dummy in ip-link(8)).
type Dummy bool

// Shape implements Kind.
func (d *Dummy) Shape(Device, string) Shape {
	return Shape{Kind: "dummy", Key: "dummy", Config: "CONFIG_DUMMY", Module: "dummy", Loose: true}
}

// Check implements Kind.
func (d *Dummy) Check(report func(key, format string, args ...any)) {
	if !*d {
		report("", "expected true, or no dummy")
	}
}
