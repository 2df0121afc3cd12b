//go:build !linux

package netlink

// SocketDiag does not exist on this system: DialSocketDiag says so.
type SocketDiag struct{}

func DialSocketDiag() (*SocketDiag, error) {
	return nil, unsupported("look at other programs' sockets")
}
func (*SocketDiag) Close() error               { return nil }
func (*SocketDiag) TCP(bool) ([]Socket, error) { return nil, unsupported("list sockets") }
func (*SocketDiag) UDP() ([]Socket, error)     { return nil, unsupported("list sockets") }

// SocketDestroyEvents does not exist on this system: DialSocketDestroyEvents says so.
type SocketDestroyEvents struct{}

func DialSocketDestroyEvents() (*SocketDestroyEvents, error) {
	return nil, unsupported("hear of sockets' ends")
}
func (*SocketDestroyEvents) Close() error { return nil }
func (*SocketDestroyEvents) Next() ([]Socket, error) {
	return nil, unsupported("hear of sockets' ends")
}
