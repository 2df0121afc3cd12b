package limits

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/tool"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Flow describes a flow for the computation of its limit.
type Flow struct {
	// Paths are its possible paths (Topology.Paths). One connection takes one of them.
	Paths [][]topology.End
	// Frame wraps its payload. If its MTU is 0, the smallest of the path and of DeviceMTU applies;
	// DeviceMTU is 0 without devices. Shaped, VLANs and Tunnel are set for each link.
	Frame     Frame
	DeviceMTU int
	// Wraps says what its frames carry besides on each link of each path; nil: nothing.
	Wraps [][]topology.Wrap
	// Cap is the lowest of its own rate caps; 0: none.
	Cap unit.BitRate
	// Transactions: it carries requests and responses, which wait for each other. It has no limit.
	Transactions bool
	// Several: it stands for all connections of a program, which may take all paths at once.
	Several bool
}

// On returns the flow with only the given one of its Paths.
func (f Flow) On(path []topology.End) Flow {
	i := slices.IndexFunc(f.Paths, func(p []topology.End) bool { return slices.Equal(p, path) })
	f.Paths = f.Paths[i : i+1]
	if f.Wraps != nil {
		f.Wraps = f.Wraps[i : i+1]
	}
	return f
}

// NewFlow describes one connection that sends from a host's source address (invalid: unset) to a
// destination. The error is that of Topology.Paths.
func NewFlow(t *topology.Topology, from string, source, destination netip.Addr, o flow.Spec) (Flow, error) {
	paths, err := t.Paths(from, source, destination)
	if err != nil {
		return Flow{}, err
	}
	frame := Frame{IPv6: destination.Is6() && !destination.Is4In6(), MSS: o.MSS}
	if o.Protocol == flow.UDP {
		frame.UDP, frame.Datagram = true, o.DatagramBytes(frame.IPv6)
	}
	to, _ := t.Holder(destination)
	for _, end := range []string{from, to.Node} {
		// Timestamps are used only if both ends want them (RFC 7323, section 3.2).
		if h, ok := t.Host(end); ok && h.Sysctl("net.ipv4.tcp_timestamps") == "0" {
			frame.NoTimestamps = true
		}
	}
	wraps, mtu := t.Wraps(from, source, destination)
	program, _ := tool.Find(o.Tool)
	return Flow{
		Paths: paths, Frame: frame, DeviceMTU: mtu, Wraps: wraps, Cap: o.Cap(),
		Transactions: flow.Of(o.Protocol).Transactional(),
		Several:      program != nil && program.All,
	}, nil
}

// Network is what flows run over.
type Network struct {
	Topology *topology.Topology
	// Kinds are the kernel's link kinds of interfaces, if agents have reported them: a "veth" of a
	// real host is not an Ethernet. It may be nil.
	Kinds map[topology.End]string
}

// Limit is the most goodput that a set of flows can carry together.
type Limit struct {
	Bps float64 // 0: unknown, because some flow meets neither a link with a rate nor a cap
	// Limit explains the figure, or why there is none.
	record.Limit
}

// None returns an unknown limit, with one of the record's NoLimit codes as the reason.
func None(code string) Limit { return Limit{Limit: record.Limit{None: code}} }

// Flow returns the limit of one flow alone: the slowest link of its best path.
func (n Network) Flow(f Flow) Limit {
	best, why := 0.0, record.LimitTerm{}
	if f.Transactions {
		return None(record.NoLimitTransactions)
	}
	if f.Several && len(f.Paths) > 1 {
		return n.Aggregate([]Flow{f})
	}
	for path := range f.Paths {
		bps, reason := n.path(f, path)
		if math.IsInf(bps, 1) {
			return Limit{}
		}
		if bps > best {
			best, why = bps, reason
		}
	}
	return made(best, why)
}

// made returns a limit with these terms.
func made(bps float64, terms ...record.LimitTerm) Limit {
	return Limit{bps, record.Limit{Terms: terms}}
}

// path returns the limit of one flow on one path; +Inf if nothing limits it.
func (n Network) path(f Flow, path int) (float64, record.LimitTerm) {
	bps, why := math.Inf(1), record.LimitTerm{}
	if f.Cap > 0 {
		bps, why = float64(f.Cap), record.LimitTerm{Kind: record.LimitCap, Bps: float64(f.Cap)}
	}
	frame := n.frame(f, f.Paths[path])
	crossed := map[topology.End]float64{}
	for _, c := range n.linkDirections(f, path) {
		crossed[c.from]++
		frame = c.of(frame)
		price := frame.Fraction() / crossed[c.from]
		if limit := c.rate * price; c.rate > 0 && limit < bps {
			bps, why = limit, linkTerm(c.rate, price, frame)
		}
	}
	return bps, why
}

// Aggregate returns the largest sum of goodputs that the links' rates and the flows' caps admit. It
// solves a linear programme over the flows' paths, with one row for each direction of a link. Flows
// that are alike are one variable.
func (n Network) Aggregate(flows []Flow) Limit {
	p := programme{network: n, rowOf: map[topology.End]int{}}
	classes := map[string]*class{}
	var order []*class
	if len(flows) > 0 && !slices.ContainsFunc(flows, func(f Flow) bool { return !f.Transactions }) {
		return None(record.NoLimitTransactions)
	}
	for _, f := range flows {
		if f.Transactions || len(f.Paths) == 0 {
			continue // without a path it carries nothing
		}
		key := fmt.Sprint(f.Paths, f.Frame, f.DeviceMTU, f.Wraps, f.Cap, f.Several)
		if classes[key] == nil {
			classes[key] = &class{flow: f}
			order = append(order, classes[key])
		}
		classes[key].count++
	}
	for _, c := range order {
		p.add(c)
	}
	return p.solve()
}

// Flows describes a treatment's connections. A connection without a path has no Paths; err is the
// first reason for that.
func (n Network) Flows(planned []study.PlannedFlow) (flows []Flow, err error) {
	for _, p := range planned {
		source, destination := p.Addresses(n.Topology)
		f, noPath := NewFlow(n.Topology, p.Sender(), source, destination, p.Spec)
		if noPath != nil && err == nil {
			err = fmt.Errorf("flow %s: %w", p.ID, noPath)
		}
		flows = append(flows, f)
	}
	return flows, err
}

// Planned returns the most that a treatment's flows can carry together. The limit is unknown if one
// of them has no path in the topology: if it connects nevertheless, its path is unknown.
func (n Network) Planned(planned []study.PlannedFlow) Limit {
	flows, err := n.Flows(planned)
	if err != nil {
		return Limit{Limit: record.Limit{None: record.NoLimitPath, Of: err.Error()}}
	}
	return n.Aggregate(flows)
}

// class is a number of flows that are alike.
type class struct {
	flow  Flow
	count int
}

// linkDirection is one direction of a link, or the output of a device with a shaper.
type linkDirection struct {
	from   topology.End
	rate   float64
	shaped bool
	// shaper and overhead, and vlans and tunnel of the path's frames, are as in Frame.
	shaper                  string
	overhead, vlans, tunnel int
}

// of returns a flow's frame as this direction counts it.
func (d linkDirection) of(f Frame) Frame {
	f.Shaped, f.Shaper, f.Overhead, f.VLANs, f.Tunnel = d.shaped, d.shaper, d.overhead, d.vlans, d.tunnel
	return f
}

// linkDirections returns the directions that one of a flow's paths crosses. The shapers of devices
// on a link precede the link.
func (n Network) linkDirections(f Flow, number int) []linkDirection {
	var list []linkDirection
	path := f.Paths[number]
	for i := 0; i+1 < len(path); i++ {
		link, ok := n.Topology.LinkAt(path[i])
		if !ok || link.Other(path[i]) != path[i+1] {
			continue // inside a switch or a router
		}
		var wrap topology.Wrap
		if f.Wraps != nil {
			wrap = f.Wraps[number][i/2]
		}
		for _, s := range wrap.Shapers {
			list = append(list, linkDirection{from: s.At, rate: float64(s.Rate), shaped: true, shaper: s.Kind + " on " +
				s.At.String(), overhead: s.Overhead, tunnel: s.Tunnel})
		}
		shape := link.Towards(path[i])
		d := linkDirection{from: path[i], rate: float64(shape.Rate), shaped: shape.Bucket ||
			n.Shaped(*link), overhead: shape.Overhead, vlans: wrap.VLANs, tunnel: wrap.Tunnel}
		if shape.Shaper != "" {
			d.shaper = shape.Shaper + " on " + path[i].String()
		}
		list = append(list, d)
	}
	return list
}

// Shaped reports whether the rate of a link is that of a token bucket, as in a lab. A link of real
// hosts or switches is an Ethernet, unless its interfaces are known to be virtual.
func (n Network) Shaped(l topology.Link) bool {
	for _, end := range []topology.End{l.From, l.To} {
		switch n.Kinds[end] {
		case "veth", "tun", "tap", "ifb", "dummy":
			return true
		}
		if h, ok := n.Topology.Host(end.Node); ok && len(h.Via) > 0 {
			return false
		}
		if s, ok := n.Topology.Switch(end.Node); ok && (len(s.Via) > 0 || s.Agentless()) {
			return false
		}
	}
	return true
}

// frame sets the MTU of a flow's frame to the smallest of the path, if it has none, and to that of
// switches that linerate makes, which drop larger frames. Other switches are taken to forward
// these, unless the topology says otherwise: if they do not, the measurement shows it.
func (n Network) frame(f Flow, path []topology.End) Frame {
	frame := f.Frame
	measured := frame.MTU != 0
	frame.MTU = cmp.Or(frame.MTU, f.DeviceMTU)
	for _, end := range path {
		if measured && !n.Topology.Makes(end.Node) {
			continue
		}
		if mtu := n.Topology.MTUAt(end); mtu > 0 && (frame.MTU == 0 || mtu < frame.MTU) {
			frame.MTU = mtu
		}
	}
	return frame
}

// programme collects the rows Σ wire/payload · x ≤ rate and Σ x ≤ cap.
type programme struct {
	network Network
	columns int
	rows    []row
	rowOf   map[topology.End]int // by the end at which the frames leave
}

// row is one constraint, with what is needed to explain it.
type row struct {
	terms map[int]float64
	most  float64
	link  bool
	place int              // links: position on the path of the first flow, from 1
	count int              // caps and flows: how many
	why   record.LimitTerm // caps and flows: the cap, or the limit of one flow
	frame Frame            // links: of the first flow
}

func (p *programme) add(c *class) {
	own := row{terms: map[int]float64{}, count: c.count}
	single, singleWhy := 0.0, record.LimitTerm{}
	for path, ends := range c.flow.Paths {
		column := p.columns
		p.columns++
		own.terms[column] = 1
		frame := p.network.frame(c.flow, ends)
		for at, cross := range p.network.linkDirections(c.flow, path) {
			if cross.rate <= 0 {
				continue
			}
			i, ok := p.rowOf[cross.from]
			frame = cross.of(frame)
			if !ok {
				i = len(p.rows)
				p.rowOf[cross.from] = i
				p.rows = append(p.rows, row{terms: map[int]float64{}, most: cross.rate, link: true, place: at + 1,
					frame: frame})
			}
			if fraction := frame.Fraction(); fraction > 0 {
				p.rows[i].terms[column] += 1 / fraction // a path may cross a link twice, as by two routers on one trunk
			}
		}
		if bps, why := p.network.path(c.flow, path); bps > single {
			single, singleWhy = bps, why
		}
	}
	// One connection takes one path, so a class is also limited by the limits of its flows. With
	// one path and no cap the rows of the links say this already.
	if (len(c.flow.Paths) > 1 && !c.flow.Several || c.flow.Cap > 0) && !math.IsInf(single, 1) {
		own.most, own.why = single*float64(c.count), singleWhy
		p.rows = append(p.rows, own)
	}
}

// maxCells bounds the size of the tableau. Beyond it the flows' own rows are left out: the limit
// still holds but may not be the tightest. If the rest has more than four times as many cells, the
// limit is unknown.
const maxCells = 4 << 20

// maxWork bounds the cells that all pivots together compute. Beyond it the limit is unknown.
const maxWork = 2 << 30

func (p *programme) solve() Limit {
	rows := p.rows
	q := reduce(rows, p.columns)
	if q.cells() > maxCells {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.link })
		q = reduce(rows, p.columns)
	}
	if q.cells() == 0 || q.cells() > 4*maxCells {
		return Limit{}
	}
	a, b := q.tableau(rows)
	// Scaled by the fastest row, so that tolerances are relative.
	scale := slices.Max(b)
	for i := range b {
		b[i] /= scale
	}
	best, price, ok := maximize(a, b, len(q.columns), maxWork/q.cells())
	if !ok {
		return Limit{}
	}
	return made(best*scale, explain(rows, q.prices(price))...)
}

// explain returns the terms of Σ price·rate, links before caps, with equal terms joined.
func explain(rows []row, price []float64) []record.LimitTerm {
	var links, caps []record.LimitTerm
	for i, r := range rows {
		if price[i] < 1e-9 {
			continue
		}
		list, term, n := &caps, r.why, r.count
		if r.link {
			list, term, n = &links, linkTerm(r.most, price[i], r.frame), 1
		} else if math.Abs(price[i]-1) > 1e-9 {
			term.Times = price[i]
		}
		at := slices.IndexFunc(*list, func(other record.LimitTerm) bool { return alike(other, term) })
		if at < 0 {
			at, *list = len(*list), append(*list, term)
		}
		(*list)[at].N += n
	}
	for _, list := range [][]record.LimitTerm{links, caps} {
		for i := range list {
			if list[i].N == 1 {
				list[i].N = 0
			}
		}
	}
	return append(links, caps...)
}

// alike reports whether two terms differ only in their number and by rounding.
func alike(a, b record.LimitTerm) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*max(a, b) }
	same := near(a.Bps, b.Bps) && near(a.Price, b.Price) && near(a.Times, b.Times)
	a.Bps, a.Price, a.Times, a.N = b.Bps, b.Price, b.Times, b.N
	return same && a == b
}

// linkTerm returns a link's term of a limit: rate × payload/wire or, if flows of several kinds or
// several bottlenecks meet, rate × shadow price.
func linkTerm(rate, price float64, frame Frame) record.LimitTerm {
	t := record.LimitTerm{Kind: record.LimitLink, Bps: rate, Of: frame.Shaper}
	if math.Abs(price-frame.Fraction()) < 1e-9 {
		t.PayloadBytes, t.WireBytes = frame.Payload(), frame.Wire()
	} else {
		t.Price = price
	}
	return t
}
