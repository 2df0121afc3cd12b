package snmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/polled"
)

const (
	// mostPorts is how many ports of a switch are read in a trial.
	mostPorts = 32
	// spacing is the minimum interval between polls.
	spacing = 250 * time.Millisecond
	// mostPolls limits the polls of a window, without those before it.
	mostPolls = 2000
	// learning is the maximum duration of Learn, and unheard its duration if nothing changes.
	learning = 10 * time.Second
	unheard  = 3 * time.Second
)

// Switch is a switch whose port counters are read by SNMP.
type Switch struct {
	Name     string
	device   *device
	found    *found
	wanted   []Wanted
	ports    []*port
	searches int
	perReply int     // ports in one request
	learned  bool    // it is known how often the switch refreshes its counters
	refreshS float64 // 0: at each request
}

// Open returns a client for the SNMP agent of a switch, and sends nothing yet. conn is the connection to an
// agent that has no address of its own; nil: s has the address.
func Open(ctx context.Context, name string, s *topology.SNMP, c Credentials, conn net.Conn) (*Switch, error) {
	d, err := open(ctx, s, c, conn)
	if err != nil {
		return nil, fmt.Errorf("SNMP of %s: %w", name, err)
	}
	return &Switch{Name: name, device: d, perReply: gosnmp.MaxOids / (len(counters) + 1)}, nil
}

// Close closes the socket.
func (s *Switch) Close() { s.device.close() }

// Discover finds the wanted ports. It fails if the switch does not answer or rejects the credentials. A port
// that is not found is no error: each Reading gives the reason.
func (s *Switch) Discover(ctx context.Context, wanted []Wanted) error {
	f, err := s.device.discover(ctx)
	if err != nil {
		why := ""
		if errors.Is(err, errSilent) && !s.device.secure {
			why = ": its address or the community is wrong, or it does not answer this host"
		} else if errors.Is(err, errSilent) {
			why = ": its address or priv_password is wrong, or it does not answer this host by SNMPv3"
		}
		return fmt.Errorf("SNMP of %s: %w%s", s.Name, err, why)
	}
	s.found, s.wanted = f, wanted
	s.match(ctx)
	return nil
}

// match finds the wanted ports in what the switch reported, keeping those found before.
func (s *Switch) match(ctx context.Context) {
	ports := s.found.match(s.wanted)
	for i, p := range ports {
		if p.Index == 0 {
			continue
		}
		if i < len(s.ports) && s.ports[i].Index == p.Index && s.ports[i].Missing == "" {
			ports[i] = s.ports[i]
		} else if err := s.describe(ctx, p); err != nil {
			p.Missing = err.Error()
		}
	}
	s.ports = ports
}

// mostSearches is how often the search for missing ports is repeated.
const mostSearches = 3

// search repeats the search for missing ports: a switch forgets silent hosts, and learns their MAC addresses
// when flows are opened.
func (s *Switch) search(ctx context.Context) {
	if s.searches >= mostSearches || !slices.ContainsFunc(s.ports, func(p *port) bool {
		return p.Index == 0 && p.wanted.Interface == ""
	}) {
		return
	}
	s.searches++
	ctx, cancel := context.WithTimeout(ctx, discovery)
	defer cancel()
	s.found.lacking = nil
	s.device.readForwarding(ctx, s.found)
	s.match(ctx)
}

// describe reads a port's properties, and whether it has 64-bit counters.
func (s *Switch) describe(ctx context.Context, p *port) error {
	at := fmt.Sprintf(".%d", p.Index)
	oids := []string{ifAlias + at, ifHighSpeed + at, ifSpeed + at, ifType + at, counters[0].wide + at,
		counters[0].narrow + at}
	got, err := s.device.get(ctx, patience, 1, oids)
	if err != nil {
		return err
	}
	p.Alias, p.SpeedBps, p.Type = text(got[0]), float64(number(got[1]))*1e6, int(number(got[3]))
	if p.SpeedBps == 0 {
		p.SpeedBps = float64(number(got[2]))
	}
	switch {
	case got[4].Type == gosnmp.Counter64:
		p.Bits = 64
	case got[5].Type == gosnmp.Counter32:
		p.Bits = 32
	default:
		return fmt.Errorf("interface %s has no counters of octets", p.Name)
	}
	oids = nil
	oids = append(oids, lists.Map(counters, func(c counter) string { return c.oid(p.Bits) + at })...)
	if got, err = s.device.get(ctx, patience, 1, oids); err != nil {
		return err
	}
	for i, v := range got {
		p.lacks = append(p.lacks, absent(v))
		if absent(v) {
			p.Lacks = append(p.Lacks, counters[i].name)
		}
	}
	return nil
}

// readable returns the named ports that have figures; nil selects all ports.
func (s *Switch) readable(names []string) (list []*port) {
	list = lists.Where(s.ports, func(p *port) bool {
		return p.Missing == "" && (names == nil || slices.Contains(names, p.Port))
	})
	return list[:min(len(list), mostPorts)]
}

// series holds the polls of several ports in one window.
type series struct {
	ports         []*port
	replies       [][]polled.Poll // by port
	broken        []string        // by port: why its polls cannot be compared
	uptime        uint32          // in the previous poll, in 1/100 s
	uptimeNs      int64           // when it was sent
	raw           [][]uint64      // in the previous poll, by port
	discontinuity []uint64        // by port
	polls, failed int
	last          error // of the latest poll; nil: answered
}

func newSeries(ports []*port) *series {
	return &series{ports: ports, replies: make([][]polled.Poll, len(ports)), broken: make([]string, len(ports)),
		raw: make([][]uint64, len(ports)), discontinuity: make([]uint64, len(ports))}
}

// poll requests the counters of all ports once, with sysUpTime in each request.
func (s *Switch) poll(ctx context.Context, r *series) error {
	r.polls++
	for first := 0; first < len(r.ports); first += s.perReply {
		last := min(first+s.perReply, len(r.ports))
		oids := []string{sysUpTime}
		for _, p := range r.ports[first:last] {
			at := fmt.Sprintf(".%d", p.Index)
			oids = append(oids, lists.Map(counters, func(c counter) string { return c.oid(p.Bits) + at })...)
			oids = append(oids, ifDiscontinuity+at)
		}
		sent := sched.Now()
		got, err := s.device.get(ctx, pollTimeout, 0, oids)
		received := sched.Now()
		if errors.Is(err, errTooBig) && s.perReply > 1 { // use smaller requests from now on
			s.perReply /= 2
			r.polls--
			return s.poll(ctx, r)
		}
		if r.last = err; err != nil {
			r.failed++
			return err
		}
		r.uptimeIs(uint32(number(got[0])), sent, received)
		for i := first; i < last; i++ {
			n := 1 + (i-first)*(len(counters)+1)
			r.add(i, sent, received, got[n:n+len(counters)], number(got[n+len(counters)]))
		}
	}
	return nil
}

// How much the time that has passed on the switch may differ from ours: in seconds plus a share.
const restartDoubtS, restartDoubtShare = 5, 0.1

// uptimeIs records sysUpTime, which wraps after 497 days. Counters before and after a restart cannot be
// compared.
func (r *series) uptimeIs(ticks uint32, sent, received int64) {
	if r.uptimeNs != 0 {
		ours, theirs := float64(received-r.uptimeNs)/1e9, float64(int32(ticks-r.uptime))/100
		if theirs < -0.01 || theirs > ours*(1+restartDoubtShare)+restartDoubtS {
			for i := range r.broken {
				r.broken[i] = "the switch restarted in the window: its sysUpTime does not continue"
			}
		}
	}
	r.uptime, r.uptimeNs = ticks, sent
}

// add adds a port's counters to the series; 32-bit counters wrap.
func (r *series) add(i int, sent, received int64, got []gosnmp.SnmpPDU, discontinuity uint64) {
	p := polled.Poll{SentNs: sent, ReceivedNs: received}
	before := r.replies[i]
	if len(before) > 0 {
		p.Counters = before[len(before)-1].Counters
		if discontinuity != r.discontinuity[i] {
			r.broken[i] = "its counters were reset in the window (ifCounterDiscontinuityTime)"
		}
	}
	raw := make([]uint64, len(got))
	for k, v := range got {
		raw[k] = number(v)
		if absent(v) != r.ports[i].lacks[k] {
			r.broken[i] = counters[k].name + " appeared or disappeared in the window"
		}
		if len(before) == 0 {
			continue
		}
		grown := raw[k] - r.raw[i][k]
		if v.Type == gosnmp.Counter32 {
			grown = uint64(uint32(grown))
		} else if raw[k] < r.raw[i][k] {
			grown = 0
			r.broken[i] = counters[k].name + " decreased in the window"
		}
		*p.Counters.Each()[k] += grown
	}
	r.raw[i], r.discontinuity[i] = raw, discontinuity
	r.replies[i] = append(before, p)
}

// busiest returns the polls of the port that carried most; nil if there are none.
func (r *series) busiest(from, to int64) (polls []polled.Poll) {
	most := uint64(0)
	for _, list := range r.replies {
		in := slices.DeleteFunc(slices.Clone(list), func(p polled.Poll) bool {
			return p.SentNs < from || p.SentNs > to
		})
		if len(in) == 0 {
			continue
		}
		first, last := in[0].Counters, in[len(in)-1].Counters
		if carried := last.InOctets + last.OutOctets - first.InOctets - first.OutOctets; polls == nil ||
			carried > most {
			polls, most = in, carried
		}
	}
	return polls
}

// Learn polls the switch until it knows how often the switch refreshes its counters. It gives up if there is
// too little traffic to see that; the polls of later trials may show it.
func (s *Switch) Learn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, learning)
	defer cancel()
	r := newSeries(s.readable(nil))
	began := time.Now()
	tick := time.NewTicker(spacing)
	defer tick.Stop()
	for !s.learned && len(r.ports) > 0 && r.failed < 3 {
		_ = s.poll(ctx, r)
		polls := r.busiest(0, sched.Now())
		refresh, known := polled.Refresh(polls)
		if known && (refresh == 0 && len(polls) > 8 || refresh > 0) {
			s.learned, s.refreshS = true, refresh
			return
		}
		if changed := len(polls) > 1 && polls[0].Counters != polls[len(polls)-1].Counters; !changed &&
			time.Since(began) > unheard {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// record returns a reading without figures, with the reason.
func (s *Switch) record(why string) record.SwitchReading {
	r := record.SwitchReading{Switch: s.Name, Missing: why}
	if s.found != nil {
		r.System, r.FDB = s.found.system, s.found.table(s.ports)
	}
	return r
}
