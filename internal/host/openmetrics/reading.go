package openmetrics

import (
	"cmp"
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"linerate/internal/host/counters"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/netstate"
)

// Limits of cardinality. linerate_omitted counts what exceeds them.
const (
	mostInterfaces = 128 // those with the lowest indices
	mostQdiscs     = 512 // kinds of the qdiscs of these interfaces
	mostCPUs       = 256
	mostListeners  = 64 // those with the lowest ports
)

// reading is one reading of the host, within the limits.
type reading struct {
	at   time.Time
	took time.Duration

	counters  netstate.Reading
	netifs    []netif
	qdiscs    []netstate.QdiscCounters // sums over an interface's qdiscs of one kind
	tcp       map[uint8]int            // connections by state
	listeners []netstate.Listener
	sockstat  map[string]int64
	conntrack *netstate.Conntrack

	failed  map[string]bool // parts that could not be read completely
	omitted map[string]int  // counts by kind of what was omitted
}

// netif is an interface.
type netif struct {
	netlink.Link
	netstate.InterfaceCounters
	speedBps, shaperBps float64 // 0: unknown or none
	shaper              string  // the kind of the qdisc that limits the rate
}

// parts lists what may fail in a reading.
var parts = []string{"conntrack", "interfaces", "links", "qdiscs", "snmp", "sockets", "sockstat", "softnet"}

// sources are the handles that a host is read with.
type sources struct {
	counters *counters.Reader
	links    *netlink.Conn
}

func openSources() (*sources, error) {
	reader, err := counters.New()
	if err != nil {
		return nil, err
	}
	reader.Silent = true
	links, err := netlink.Dial()
	if err != nil {
		reader.Close()
		return nil, err
	}
	return &sources{reader, links}, nil
}

func (s *sources) Close() error { return errors.Join(s.counters.Close(), s.links.Close()) }

// read reads the host.
func (s *sources) read() *reading {
	r := &reading{at: time.Now(), failed: map[string]bool{}, omitted: map[string]int{}}
	s.counters.Counts(&r.counters)
	s.counters.Machine(&r.counters)
	for _, line := range r.counters.Missing {
		part, _, _ := strings.Cut(line, ":")
		r.failed[part] = true
	}
	r.fail("links", r.readInterfaces(s))
	r.addQdiscs()
	r.counters.Softnet, r.omitted["cpus"] = atMost(r.counters.Softnet, mostCPUs)
	r.fail("sockets", r.readSockets())
	var p proc.Proc
	var err error
	r.sockstat, err = p.Sockstat()
	r.fail("sockstat", err)
	r.conntrack, err = p.Conntrack()
	r.fail("conntrack", err)
	r.took = time.Since(r.at)
	return r
}

func (r *reading) fail(part string, err error) {
	if err != nil {
		r.failed[part] = true
	}
}

// readInterfaces joins the interfaces' counters with their state, speed and rate limit.
func (r *reading) readInterfaces(s *sources) error {
	links, err := s.links.Links()
	if err != nil {
		return err
	}
	links = slices.DeleteFunc(links, func(l netlink.Link) bool { return l.Loopback })
	// New interfaces have higher indices, and so do not displace others.
	slices.SortFunc(links, func(a, b netlink.Link) int { return cmp.Compare(a.Index, b.Index) })
	links, r.omitted["interfaces"] = atMost(links, mostInterfaces)
	described, err := s.counters.Interfaces()
	for _, l := range links {
		n := netif{Link: l}
		if i := slices.IndexFunc(described, func(d netstate.InterfaceSnapshot) bool {
			return d.Interface == l.Name
		}); i >= 0 {
			d := described[i]
			n.speedBps = d.SpeedBps
			if d.Shaper != nil {
				n.shaperBps, n.shaper = d.Shaper.RateBps, d.Shaper.Kind
			}
		}
		i := slices.IndexFunc(r.counters.Interfaces, func(c netstate.InterfaceCounters) bool {
			return c.Interface == l.Name
		})
		if i < 0 {
			continue // created since, or unreadable
		}
		n.InterfaceCounters = r.counters.Interfaces[i]
		r.netifs = append(r.netifs, n)
	}
	return err
}

// addQdiscs sums the qdiscs of each interface and kind: those that the kernel creates for each queue have no
// handle.
func (r *reading) addQdiscs() {
	var sums []netstate.QdiscCounters
	for _, n := range r.netifs {
		for _, q := range r.counters.Qdiscs {
			if q.Interface != n.Name {
				continue
			}
			i := slices.IndexFunc(sums, func(o netstate.QdiscCounters) bool {
				return o.Interface == q.Interface &&
					o.Kind == q.Kind
			})
			if i < 0 {
				i, sums = len(sums), append(sums, netstate.QdiscCounters{Interface: q.Interface, Kind: q.Kind})
			}
			sum := &sums[i]
			sum.Bytes, sum.Packets, sum.Drops = sum.Bytes+q.Bytes, sum.Packets+q.Packets, sum.Drops+q.Drops
			sum.Overlimits, sum.Requeues = sum.Overlimits+q.Overlimits, sum.Requeues+q.Requeues
			sum.Backlog, sum.Qlen = sum.Backlog+q.Backlog, sum.Qlen+q.Qlen
		}
	}
	r.qdiscs, r.omitted["qdiscs"] = atMost(sums, mostQdiscs)
}

// readSockets counts connections, and finds the fullest listener of each local address: with SO_REUSEPORT there
// are several.
func (r *reading) readSockets() error {
	diag, err := netlink.DialSocketDiag()
	if err != nil {
		return err
	}
	defer diag.Close()
	all, err := diag.AllTCP()
	r.tcp = map[uint8]int{}
	fullest := map[netip.AddrPort]netstate.Listener{}
	for _, s := range all {
		if !s.Listening {
			r.tcp[s.State]++
			continue
		}
		l := netstate.Listener{Local: s.Local.String(), Queued: s.ReceiveQueue, Backlog: s.SendQueue}
		if other, there := fullest[s.Local]; !there || l.Queued-l.Backlog > other.Queued-other.Backlog {
			fullest[s.Local] = l
		}
	}
	var at []netip.AddrPort
	for local := range fullest {
		at = append(at, local)
	}
	slices.SortFunc(at, func(a, b netip.AddrPort) int { return cmp.Or(cmp.Compare(a.Port(), b.Port()), a.Compare(b)) })
	at, r.omitted["listeners"] = atMost(at, mostListeners)
	for _, local := range at {
		r.listeners = append(r.listeners, fullest[local])
	}
	return err
}

// limitBps returns the most that an interface carries in a direction; 0 if unknown.
func (n netif) limitBps(transmits bool) float64 {
	limit := n.speedBps
	if transmits && n.shaperBps > 0 && (limit == 0 || n.shaperBps < limit) {
		limit = n.shaperBps
	}
	return limit
}

// memoryBytes returns the memory of a protocol's sockets; sockstat has it in pages.
func (r *reading) memoryBytes(protocol string) float64 {
	return float64(r.sockstat[protocol+".mem"]) * float64(os.Getpagesize())
}
