package netlink

// LinkEnd is one end of a link to make: an interface and its network namespace.
type LinkEnd struct {
	Namespace *Namespace
	Interface string
	MAC       string
	MTU       int // bytes
}
