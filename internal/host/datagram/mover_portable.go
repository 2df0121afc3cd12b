package datagram

import (
	"net"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// portable returns a mover that uses only package net, one datagram at a time. It works on every system; its
// busy time includes waiting for the network.
func portable(request message.FlowRequest, end *endpoint) mover {
	if !request.Sends {
		in := &single{conn: end.conn, data: make([]byte, maxBytes+1), named: flow.ModeRecv}
		return newReceiver(end, portableDriver{}, in, nil)
	}
	out := &single{conn: end.conn, data: make([]byte, end.bytes), named: flow.ModeSendto}
	var notes []string
	if request.Mode == flow.ModeGSO || request.Mode == flow.ModeSendmmsg {
		notes = append(notes, request.Mode+": not available here")
	}
	return newSender(request, end, portableDriver{}, out, out.data, notes)
}

// single sends or receives one datagram at a time.
type single struct {
	conn   *net.UDPConn
	data   []byte
	length int
	named  string
}

func (o *single) send(_, _ int) (int, error) {
	if _, err := o.conn.Write(o.data); err != nil {
		return 0, err
	}
	return 1, nil
}

func (o *single) receive(int, bool, int64) (n int, err error) {
	if o.length, err = o.conn.Read(o.data); err != nil {
		return 0, err
	}
	return 1, nil
}

func (o *single) message(_ int, now, _ int64) received {
	return received{data: o.data[:o.length], bytes: o.length, segment: o.length, arrived: now}
}

func (o *single) mode() string                            { return o.named }
func (*single) room() int                                 { return 1 }
func (*single) batch() int                                { return 1 }
func (*single) replace(int, error) (packetWriter, string) { return nil, "" }
func (o *single) bytes() int                              { return len(o.data) }
func (*single) all(int) bool                              { return false }
