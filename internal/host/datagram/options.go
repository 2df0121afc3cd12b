package datagram

import (
	"fmt"
	"net"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/science/limits"
)

// What the receive buffers of a trial's flows are asked to hold together, and each
// at least and at most: 16 MiB is 2 ms at 64 Gbit/s.
const (
	buffersTogether = 64 << 20
	bufferLeast     = 1 << 20
	bufferMost      = 16 << 20
)

// setOptions completes the options of a connected socket, of which its engine has so
// many, and finds out what it grants.
func setOptions(request message.FlowRequest, conn *net.UDPConn, flows int) (*endpoint, error) {
	end := &endpoint{
		conn: conn, packets: 1, flows: flows, tuples: request.Tuples,
		local:  socket.AddrPort(conn.LocalAddr()),
		remote: socket.AddrPort(conn.RemoteAddr()),
	}
	end.bytes = request.DatagramBytes(end.remote.Addr().Is6())
	if request.Sends && request.Frame != "" {
		if err := openFrames(request, end); err != nil {
			return end, err
		}
	}
	return end, socket.WithConn(conn, func(fd int) (err error) {
		send, receive := request.Buffers()
		if request.Sends {
			end.setSize(fd)
			if send != 0 {
				end.sndbuf, _, err = sock.Buffers(fd)
			}
			return err
		}
		if receive != 0 {
			_, end.buffer, err = sock.Buffers(fd)
			return err
		}
		asked := max(bufferLeast, min(bufferMost, buffersTogether/max(1, flows)))
		if end.buffer, err = sock.SetReceiveBuffer(fd, asked); err != nil {
			return fmt.Errorf("setting a receive buffer of %d bytes (SO_RCVBUF): %w", asked, err)
		}
		if end.buffer < 2*asked { // as the kernel counts
			end.notes = append(end.notes, fmt.Sprintf("receive buffer: %d KiB of %d (net.core.rmem_max)",
				end.buffer>>11, asked>>10))
		}
		return nil
	})
}

// Memory is how many bytes of this process's memory one of a trial's flows takes.
func Memory(request message.FlowRequest, flows int) int {
	if request.Sends {
		return 2 * batchBytes
	}
	return messagesOf(flows, singleMessages)*messageBytes + 8*max(0, request.Tuples)
}

const (
	// batchBytes is what one system call hands over at least, while that are not more
	// messages than maxMessages: it stays in the processor's cache.
	batchBytes = 64 << 10
	// Messages in one call of a receiver, and the room for each.
	mergedMessages = 16
	singleMessages = 32
	messageBytes   = 64 << 10
	// messagesTogether bounds what the receivers of a trial have room for: 16 MiB.
	messagesTogether = 256
)

// messagesOf is how many messages one of so many receivers takes in one call, at most.
func messagesOf(flows, most int) int {
	return max(2, min(most, messagesTogether/max(1, flows)))
}

// pathMTU is the MTU of the path as the kernel knows it now; 0: not known. It begins with that of
// the route, and a router with a smaller one may report that to the first datagrams.
func (end *endpoint) pathMTU() (mtu int) {
	_ = socket.WithConn(end.conn, func(fd int) (err error) {
		mtu, err = sock.PathMTU(fd, end.remote.Addr().Is6())
		return err
	})
	return mtu
}

// setSize finds out how large a datagram is that the MTU allows, if no size was
// requested, and how many packets one takes.
func (end *endpoint) setSize(fd int) {
	frame := limits.Frame{UDP: true, IPv6: end.remote.Addr().Is6()}
	frame.MTU, _ = sock.PathMTU(fd, frame.IPv6)
	switch {
	case end.bytes == 0 && frame.MTU == 0:
		end.bytes = defaultBytes
	case end.bytes == 0:
		end.bytes = max(minBytes, min(maxBytes, frame.Payload()))
	case frame.MTU != 0:
		frame.Datagram = end.bytes
		end.packets = frame.Packets()
	}
}
