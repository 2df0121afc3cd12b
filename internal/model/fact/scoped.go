package fact

// Scoped is a parameter below net.ipv4.conf, with its value for all interfaces and for one. For
// some parameters the larger value applies.
type Scoped struct {
	Name      string `json:"name"` // such as arp_ignore
	Interface string `json:"interface"`
	All       int    `json:"all"` // value of conf.all
	Own       int    `json:"own"` // value of the interface
	// Unread is the value that is not known and 0 here: all, own. Absent: both are known.
	Unread string `json:"unread,omitempty"`
}

var _ = is[Scoped]("scoped_parameter")

// Names returns the parameter for all interfaces.
func (s Scoped) Names() []string { return []string{"net.ipv4.conf.all." + s.Name} }
