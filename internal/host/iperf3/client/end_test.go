package client

import (
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// silent are streams of which nothing comes for a while, until they end.
type silent struct {
	flows
	state atomic.Uint32
}

func (s *silent) Moved() (received, written int64) { return 1, 0 }
func (s *silent) Read() []message.FlowEnd {
	return []message.FlowEnd{
		{ID: "write", Sends: true, Alive: true, Info: &netstate.TCPInfo{State: netstate.TCPEstablished}},
		{ID: "broken", Info: &netstate.TCPInfo{State: netstate.TCPEstablished}},
		{ID: "read", Alive: true, Info: &netstate.TCPInfo{State: uint8(s.state.Load())}},
	}
}

// A stream's silence between two retransmissions is not its end, and its end needs
// no silence after it.
func TestStreamsAreReadToTheirEnd(t *testing.T) {
	const closeWait = 8
	s := &silent{}
	s.state.Store(netstate.TCPEstablished)
	test := &Test{flows: s, request: message.Iperf3Request{Reads: 1}}
	settled := make(chan struct{})
	go func() { test.settleReads(); close(settled) }()
	select {
	case <-settled:
		t.Error("a silent stream was taken for one that had ended")
	case <-time.After(3 * quiet):
	}
	s.state.Store(closeWait)
	<-settled
	began := time.Now()
	for range 10 { // each would wait for silence
		test.settleReads()
	}
	if took := time.Since(began); took > 9*quiet {
		t.Errorf("ten streams that had ended were waited for %v", took)
	}
}
