package fact

// Scoped is a parameter below net.ipv4.conf for all interfaces and for one. For some parameters
// the larger value holds.
type Scoped struct {
	Name      string `json:"name"` // such as arp_ignore
	Interface string `json:"interface"`
	All       int    `json:"all"`
	Own       int    `json:"own"` // of the interface
}

var _ = is[Scoped]("scoped_parameter")

// Names returns the parameter for all interfaces.
func (s Scoped) Names() []string { return []string{"net.ipv4.conf.all." + s.Name} }
