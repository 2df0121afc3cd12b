//go:build !linux

package netlink

// PacketCapture does not exist on this system: OpenPacketCapture says so.
type PacketCapture struct{}

func OpenPacketCapture() (*PacketCapture, error)       { return nil, unsupported("watch arriving packets") }
func (*PacketCapture) Read(visit func(CapturedPacket)) {}
func (*PacketCapture) Dropped() int64                  { return 0 }
func (*PacketCapture) Close() error                    { return nil }
