//go:build !linux

package netlink

// Sockets does not exist on this system: DialSockets says so.
type Sockets struct{}

func DialSockets() (*Sockets, error)        { return nil, unsupported("look at other programs' sockets") }
func (*Sockets) Close() error               { return nil }
func (*Sockets) TCP(bool) ([]Socket, error) { return nil, unsupported("list sockets") }
func (*Sockets) UDP() ([]Socket, error)     { return nil, unsupported("list sockets") }

// SocketEnds does not exist on this system: DialSocketEnds says so.
type SocketEnds struct{}

func DialSocketEnds() (*SocketEnds, error)  { return nil, unsupported("hear of sockets' ends") }
func (*SocketEnds) Close() error            { return nil }
func (*SocketEnds) Next() ([]Socket, error) { return nil, unsupported("hear of sockets' ends") }
