//go:build !linux || portable

package netlink

// PacketCapture is not available on this system: OpenPacketCapture fails.
type PacketCapture struct{}

func OpenPacketCapture() (*PacketCapture, error)       { return nil, unsupported("capture packets") }
func (*PacketCapture) Read(visit func(CapturedPacket)) {}
func (*PacketCapture) Dropped() int64                  { return 0 }
func (*PacketCapture) Close() error                    { return nil }
