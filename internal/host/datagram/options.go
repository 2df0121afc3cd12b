package datagram

import (
	"fmt"
	"net"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/science/limits"
)

// Receive buffers to request: the total for a trial's flows, and the minimum and maximum of each. 16 MiB is 2
// ms at 64 Gbit/s.
const (
	buffersTogether = 64 << 20
	bufferLeast     = 1 << 20
	bufferMost      = 16 << 20
)

// setOptions completes the options of a connected socket of an engine with this many flows, and finds what the
// system granted.
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
		if end.buffer < 2*asked { // the kernel counts twice the requested size
			end.notes = append(end.notes, fmt.Sprintf("receive buffer: %d KiB of %d (net.core.rmem_max)",
				end.buffer>>11, asked>>10))
		}
		return nil
	})
}

// Memory returns how many bytes of this process's memory a flow of the request takes in a trial with this many
// flows.
func Memory(request message.FlowRequest, flows int) int {
	if request.Sends {
		return 2 * batchBytes
	}
	return messagesOf(flows, singleMessages)*messageBytes + 8*max(0, request.Tuples)
}

const (
	// batchBytes is the least that one system call hands over, unless that takes more than maxMessages
	// messages: it stays in the processor's cache.
	batchBytes = 64 << 10
	// Messages per call of a receiver, and the space for each.
	mergedMessages = 16
	singleMessages = 32
	messageBytes   = 64 << 10
	// messagesTogether limits the messages that all receivers of a trial have space for: 16 MiB.
	messagesTogether = 256
)

// messagesOf returns how many messages each of flows receivers reads per call; at most most.
func messagesOf(flows, most int) int {
	return max(2, min(most, messagesTogether/max(1, flows)))
}

// pathMTU returns the MTU of the path that the kernel currently knows; 0 if unknown. It is the route's at
// first; a router with a smaller MTU may report that in reply to the first datagrams.
func (end *endpoint) pathMTU() (mtu int) {
	_ = socket.WithConn(end.conn, func(fd int) (err error) {
		mtu, err = sock.PathMTU(fd, end.remote.Addr().Is6())
		return err
	})
	return mtu
}

// setSize chooses the datagram size that the MTU allows if the request has none, and computes how many packets
// a datagram takes.
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
