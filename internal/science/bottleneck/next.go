package bottleneck

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

// available is the parameter with the congestion controls that a kernel has loaded.
const available = "net.ipv4.tcp_available_congestion_control"

// What a lab of two hosts takes of a path (linerate new wan): bits per second, seconds, a share and
// bytes in flight.
var (
	labRate, labRTT = [2]float64{1e6, 10e9}, [2]float64{1e-3, 1}
	labLoss         = 0.1
	labFlight       = float64(256 << 20)
)

// Next returns what to do about what held a flow of a trial back, with the figures of the flow: at
// least one step for each cause, and for none. server is the address of the server if the trial is
// a measurement; empty: it is a trial of a study.
func Next(t *record.Trial, f record.Flow, over *topology.Topology, server string) (steps []record.Step) {
	n := next{Trial: t, flow: f, server: server, path: limits.Path{RateBps: rateOf(f, over)}}
	if info := f.SenderInfo; info != nil {
		n.path.RTTS = float64(cmp.Or(info.MinRTTUs, info.RTTUs)) / 1e6
		n.path.Segment = int(info.SndMSS)
	}
	switch f.LimitedBy {
	case CongestionWindow:
		return n.congestion()
	case ReceiverWindow:
		return n.buffer("net.ipv4.tcp_rmem", f.To, n.path.ReceiveBuffer)
	case SendBuffer:
		return n.buffer("net.ipv4.tcp_wmem", f.From, n.path.SendBuffer)
	case SlowReader:
		return n.on(f.To, hint.FindWait{Reads: true, CapBps: reached(f, f.ReadCapBps)})
	case Application:
		return n.on(f.From, hint.FindWait{CapBps: reached(f, f.WriteCapBps)})
	case RateCap:
		return n.on(f.From, hint.LiftCap{Bps: f.RateCapBps})
	case FullLink:
		return n.link()
	case Acknowledgements:
		a, _ := factOf[fact.AcknowledgementsQueue](f)
		return n.at(a.Interface, f.To, hint.AcknowledgementsFirst{Interface: a.Interface})
	case InterfaceQueue:
		b, is := factOf[fact.Backpressure](f)
		if left, has := factOf[fact.NeverLeft](f); !is && has && len(left.Queues) > 0 {
			b.Interface = left.Queues[0].Interface
		}
		return n.at(b.Interface, f.From, hint.LongerQueue{Interface: b.Interface})
	case Generator:
		host := f.From
		for _, one := range f.LimitedFacts {
			host = cmp.Or(one.Host, host)
		}
		return n.on(host, hint.MoreCPU{})
	case NoAnswer:
		return n.on(f.From, hint.ReachPeer{Address: peer(f)})
	case Loss:
		return n.on(f.From, hint.SendLess{Bps: f.GoodputBps})
	case NoCarrier:
		c, _ := factOf[fact.NoCarrierFor](f)
		return n.at(c.Interface, f.From, hint.SeeCarrier{Interface: c.Interface})
	}
	if w, is := factOf[fact.ShortWindow](f); is {
		return n.on("", hint.MeasureLonger{Seconds: 2 * LeastWindowS(w.RTTS)})
	}
	return n.on("", hint.LookDuring{})
}

// next is a flow for which steps are made. Values of path that are 0 are not known.
type next struct {
	*record.Trial
	flow   record.Flow
	server string
	path   limits.Path
}

// on returns the step of an advice, on a host or, if that is empty, on both ends.
func (n next) on(host string, advice any) []record.Step {
	return []record.Step{{Host: host, Hint: &hint.Hint{Is: advice}}}
}

// at is on for the host of an interface; if that is not known, for another one.
func (n next) at(end, otherwise string, advice any) []record.Step {
	if host, _, is := strings.Cut(end, "."); is {
		return n.on(host, advice)
	}
	return n.on(otherwise, advice)
}

// congestion returns what the congestion control carries at the loss and round trip that were
// measured, if a response function of it is published (reno, cubic); which one carries more; and a lab
// of that path.
func (n next) congestion() (steps []record.Step) {
	f := n.flow
	known := n.path.RTTS > 0 && n.path.Segment > 0 && n.path.RateBps > 0
	loss := missing(f)
	carries := map[string]func(loss float64) (low, high float64){"reno": n.path.Reno,
		"cubic": n.path.Cubic}[f.CongestionControl]
	if known && loss > 0 && carries != nil {
		h := hint.LossCarries{CongestionControl: f.CongestionControl, Loss: loss, RTTS: n.path.RTTS,
			MeasuredBps: f.GoodputBps}
		h.LowBps, h.HighBps = carries(loss)
		steps = n.on("", h)
	}
	if !IsBBR(f) {
		// BBR's model is the rate of delivery and the round trip without a queue; losses below the
		// gain of its probes, a quarter, do not enter it (Cardwell et al., ACM Queue 14(5), 2016).
		try := hint.TryControl{CongestionControl: "bbr", CarriesBps: n.path.RateBps * (1 - min(loss, 1)), Host: f.From,
			Address: n.server, Read: n.server != "" && f.From != f.OpenedBy}
		from, _ := n.Reading(f.From)
		has, read := from.Snapshot.Sysctls[available]
		try.Absent = read && !slices.Contains(strings.Fields(has), try.CongestionControl)
		steps = append(steps, n.on("", try)...)
	}
	if known && n.path.RateBps >= labRate[0] && n.path.RateBps <= labRate[1] && n.path.RTTS >= labRTT[0] &&
		n.path.RTTS <= labRTT[1] && loss <= labLoss && n.path.BDP() <= labFlight {
		steps = append(steps, n.on("", hint.Reproduce{RateBps: n.path.RateBps, RTTS: n.path.RTTS, Loss: loss})...)
	}
	if steps == nil {
		return n.on("", hint.LookDuring{})
	}
	return steps
}

// buffer returns the size up to which a buffer must grow to fill the path: a parameter's third value
// or, if that is large enough, the program's own size.
func (n next) buffer(key, host string, needs func() int64) []record.Step {
	receive := key == "net.ipv4.tcp_rmem"
	if n.path.RateBps <= 0 || n.path.RTTS <= 0 || n.path.Segment <= 0 {
		return n.on(host, hint.OwnWindow{Receive: receive})
	}
	size, now := needs(), third(*n.Trial, host, key)
	if now == 0 || float64(size) <= now {
		return n.on(host, hint.OwnWindow{Bytes: size, Receive: receive})
	}
	at, _ := n.Reading(host)
	fields := strings.Fields(at.Snapshot.Sysctls[key])
	value := strings.Join(append(fields[:2], strconv.FormatInt(size, 10)), " ")
	return []record.Step{{Host: host, Setting: &setting.Setting{Host: host, Sysctl: []setting.Sysctl{{Key: key,
		Value: value}}}}}
}

// link returns what to do about a full link, or a shaper that is.
func (n next) link() []record.Step {
	wider := hint.WiderLink{RateBps: n.path.RateBps}
	if l, is := factOf[fact.LinkShare](n.flow); is {
		wider = hint.WiderLink{Interface: l.Interface, RateBps: l.RateBps, Shaper: l.Shaper}
	} else if q, is := factOf[fact.QueueAt](n.flow); is {
		wider.Interface = q.Interface
	}
	return n.at(wider.Interface, "", wider)
}

// factOf returns the first fact of a kind that shows what limits a flow.
func factOf[T any](f record.Flow) (found T, is bool) {
	for _, one := range f.LimitedFacts {
		if found, is = one.Is.(T); is {
			return found, true
		}
	}
	return found, false
}

// rateOf returns the rate of the slowest link on a flow's path, or the most that the flow can carry;
// 0: neither is known.
func rateOf(f record.Flow, over *topology.Topology) (least float64) {
	ends := f.Ends()
	for i := 0; i+1 < len(ends); i += 2 {
		if link, ok := over.LinkAt(ends[i]); ok {
			if rate := float64(link.Towards(ends[i]).Rate); rate > 0 && (least == 0 || rate < least) {
				least = rate
			}
		}
	}
	return cmp.Or(least, f.LimitBps)
}

// reached returns a cap that a flow reaches; 0: it does not.
func reached(f record.Flow, bps float64) float64 {
	if reaches(f, bps) {
		return bps
	}
	return 0
}

// peer returns the address of a flow's receiver; empty: not known.
func peer(f record.Flow) string {
	if a := f.DestinationAddr(); a.IsValid() {
		return a.String()
	}
	return ""
}
