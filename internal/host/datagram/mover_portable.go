package datagram

import (
	"net"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// portable moves datagrams with package net alone, one at a time. It works
// everywhere; its busy time includes waiting for the network.
type portable struct{}

func (portable) newMover(request message.FlowRequest, end *endpoint) mover {
	one := &single{conn: end.conn}
	if !request.Sends {
		one.data = make([]byte, maxBytes+1)
		r := &receiver{driver: portableDriver{}, in: singleIn{one}, end: end, tracker: tracker{header: end.header}, delays: newDelays()}
		r.show()
		return r
	}
	r := &sender{driver: portableDriver{end.conn.SetWriteDeadline}, out: singleOut{one}, bytes: end.bytes, header: end.header, data: randomBytes(end.bytes)}
	one.data = r.data
	if request.RateCap > 0 {
		r.pace = newPace(end.bytes, float64(request.RateCap))
	}
	switch request.Mode {
	case flow.ModeGSO, flow.ModeSendmmsg:
		r.notes = append(r.notes, request.Mode+": not available here")
	}
	r.show()
	return r
}

// single sends and receives one datagram at a time.
type single struct {
	conn   *net.UDPConn
	data   []byte
	length int
}

func (o *single) send(_, _ int) (int, error) {
	if _, err := o.conn.Write(o.data); err != nil {
		return 0, err
	}
	return 1, nil
}

func (o *single) receive(int, bool) (n int, err error) {
	if o.length, err = o.conn.Read(o.data); err != nil {
		return 0, err
	}
	return 1, nil
}

func (o *single) message(_ int, now, _ int64) received {
	return received{data: o.data[:o.length], bytes: o.length, segment: o.length, arrived: now}
}

// singleOut and singleIn are its two sides.
type singleOut struct{ *single }

func (singleOut) mode() string { return flow.ModeSendto }
func (singleOut) room() int    { return 1 }
func (singleOut) batch() int   { return 1 }

type singleIn struct{ *single }

func (singleIn) mode() string { return flow.ModeRecv }
func (o singleIn) room() int  { return len(o.data) }

func (*single) replace(int, error) (packetWriter, string) { return nil, "" }
func (*single) all(int) bool                              { return false }
