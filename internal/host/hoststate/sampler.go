package hoststate

import (
	"context"
	"time"

	"linerate/internal/host/counters"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/rates"
)

// StateInterval is how often a Sampler reads the state: settings of interfaces, routes,
// neighbours, parameters, listening sockets, names of programs.
const StateInterval = 30 * time.Second

// mostTables of connections are kept, for those whose round trips are long beside the interval.
const mostTables = 10

// connectionsShare is the most of the time that reading connections may take. A thousand take
// some milliseconds; where there are so many that it would be more, they are read less often.
const connectionsShare = 0.005

// Sampler reads this host repeatedly. It reads counters and TCP connections for each sample,
// connections less often if there are very many, and the state once per StateInterval. It does
// not read pluggable modules or anything else that a NIC is slow to report, and sends no
// packet. It is not safe for concurrent use.
type Sampler struct {
	interval time.Duration
	reader   *counters.Reader
	diag     *netlink.SocketDiag
	holders  map[uint32]proc.Holder
	readings rates.Readings
	missing  string // why there are no connections; empty: there are

	due, stateDue, connectionsDue time.Time
}

// NewSampler returns a sampler and takes the first reading. name is the host's name in the
// samples; empty: that of uname(2).
func NewSampler(name string, interval time.Duration) (*Sampler, error) {
	reader, err := counters.New()
	if err != nil {
		return nil, err
	}
	reader.Silent = true
	s := &Sampler{interval: interval, reader: reader, readings: rates.Readings{State: begun(name)}}
	if s.diag, err = netlink.DialSocketDiag(); err != nil {
		s.missing = err.Error()
	}
	if err := s.readState(); err != nil {
		s.Close()
		return nil, err
	}
	s.read()
	s.due = time.Now().Add(interval)
	return s, nil
}

// Close closes the sampler. A concurrent Next fails.
func (s *Sampler) Close() error {
	if s.diag != nil {
		_ = s.diag.Close()
	}
	return s.reader.Close()
}

// Next waits until the interval has passed, and returns what happened in it.
func (s *Sampler) Next(ctx context.Context) (record.HostSample, error) {
	if time.Until(s.stateDue) <= 0 {
		if err := s.readState(); err != nil {
			return record.HostSample{}, err
		}
	}
	select {
	case <-time.After(time.Until(s.due)):
	case <-ctx.Done():
		return record.HostSample{}, context.Cause(ctx)
	}
	s.read()
	// A machine that was suspended, or a slow one, has no samples to make up for.
	if s.due = s.due.Add(s.interval); time.Since(s.due) > 0 {
		s.due = time.Now().Add(s.interval)
	}
	return rates.Of(s.readings), nil
}

// read reads the counters, and the connections where they are due.
func (s *Sampler) read() {
	r := &s.readings
	r.Before, r.Now = r.Now, netstate.Reading{}
	read(s.reader, &r.Now)
	if s.diag != nil && time.Until(s.connectionsDue) <= s.interval/10 {
		s.readConnections()
	}
	if s.missing != "" {
		r.Now.Missing = append(r.Now.Missing, "connections: "+s.missing)
	}
	r.Taken = time.Now().UTC().Truncate(time.Millisecond)
}

func (s *Sampler) readConnections() {
	began := time.Now()
	t := rates.Table{AtNs: sched.Now()}
	all, err := s.diag.TCP(false)
	if err != nil {
		s.missing = err.Error()
		return
	}
	s.missing = ""
	t.Connections = make(map[rates.Ends]netstate.Connection, len(all))
	for _, one := range all {
		c := connection(one, s.holders)
		t.Connections[rates.Ends{Local: c.Local, Remote: c.Remote}] = c
	}
	tables := append(s.readings.Tables, t)
	s.readings.Tables = tables[max(0, len(tables)-mostTables):]
	s.connectionsDue = began.Add(time.Duration(float64(time.Since(began)) / connectionsShare))
}

func (s *Sampler) readState() (err error) {
	state := &s.readings.State
	host, before := &state.Reading, state.State
	host.Before = host.Snapshot.Tables
	if host.Snapshot, err = s.reader.Snapshot(host.Host, nil, nil); err != nil {
		return err
	}
	s.holders = proc.Proc{}.Holders()
	state.State = stateOf(host.Snapshot, s.holders)
	earlierState(before).add(&state.State)
	s.stateDue = time.Now().Add(StateInterval)
	return nil
}
