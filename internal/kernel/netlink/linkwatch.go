package netlink

// LinkState is the state that an interface changed to.
type LinkState struct {
	Interface string
	// Carrier reports whether the interface is up and has a link (IFF_LOWER_UP). Up is the
	// administrative state.
	Carrier, Up bool
	// AtNs is when the notification was read, on the monotonic clock. The kernel may send it up to
	// a second after the change (net/core/link_watch.c).
	AtNs int64
}
