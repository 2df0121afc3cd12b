package datagram

import (
	"fmt"

	"linerate/internal/host/frames"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/message"
)

// framed is a packetWriter that sends Ethernet frames built by linerate, with our header in each.
type framed struct {
	maker *frames.Maker
	to    *packet.Sender
}

// openFrames finds where the frames of the flow go and opens a sender for them. It relies on the handshake
// having resolved the neighbour.
func openFrames(request message.FlowRequest, end *endpoint) error {
	path, err := frames.FindPath(end.local, end.remote)
	if err != nil {
		return err
	}
	fill := make([]byte, maxBytes)
	socket.FillRandom(fill)
	o := frames.Options{Payloads: request.FramePayloads(end.remote.Addr().Is6()), Tuples: request.Tuples, Fill: fill}
	if request.DSCP != nil {
		o.TrafficClass = byte(request.DSCP.TrafficClass())
	}
	f := &framed{}
	if f.maker, err = frames.New(path, o); err != nil {
		return err
	}
	if f.to, err = packet.Open(packet.Options{Interface: path.Interface, Bytes: f.maker.Most(),
		Mode: request.Mode}); err != nil {
		return err
	}
	end.frames = f
	return nil
}

// prepare builds the next n frames.
func (f *framed) prepare(n int, sequence uint64, at int64) {
	for i := range n {
		number := sequence + uint64(i)
		// The sender was opened for the maker's largest frame.
		frame, _ := f.to.Frame(i, f.maker.Bytes(number))
		f.maker.Make(frame, number, func(b []byte) { putHeader(b, 1, number, at) })
	}
}

func (f *framed) send(_, n int) (int, error)              { return f.to.Send(0, n) }
func (*framed) room() int                                 { return packet.Room }
func (*framed) batch() int                                { return 1 }
func (*framed) replace(int, error) (packetWriter, string) { return nil, "" }
func (f *framed) mode() string                            { mode, _ := f.to.Mode(); return mode }
func (f *framed) notes() (notes []string) {
	if _, refused := f.to.Mode(); refused != "" {
		notes = append(notes, fmt.Sprintf("%s: %s", packet.Program, refused))
	}
	return notes
}
