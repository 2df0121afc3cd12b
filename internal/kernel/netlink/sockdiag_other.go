//go:build !linux || portable

package netlink

// SocketDiag is not available on this system: DialSocketDiag fails.
type SocketDiag struct{}

func DialSocketDiag() (*SocketDiag, error) {
	return nil, unsupported("open a socket diagnostics socket")
}
func (*SocketDiag) Close() error               { return nil }
func (*SocketDiag) TCP(bool) ([]Socket, error) { return nil, unsupported("list sockets") }
func (*SocketDiag) UDP() ([]Socket, error)     { return nil, unsupported("list sockets") }

// SocketDestroyEvents is not available on this system: DialSocketDestroyEvents fails.
type SocketDestroyEvents struct{}

func DialSocketDestroyEvents() (*SocketDestroyEvents, error) {
	return nil, unsupported("subscribe to destroyed sockets")
}
func (*SocketDestroyEvents) Close() error { return nil }
func (*SocketDestroyEvents) Next() ([]Socket, error) {
	return nil, unsupported("subscribe to destroyed sockets")
}
