//go:build !portable

package netlink

// NexthopObject returns the ID of the object that has the route's next hops. 0: the route has its
// own.
func (r Route) NexthopObject() int {
	if len(r.Object) < rtmsgLen {
		return 0
	}
	return int(within(r.Object[rtmsgLen:], rtaNexthopID).uint32())
}
