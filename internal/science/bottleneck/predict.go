package bottleneck

import (
	"math"
	"strconv"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

// This file predicts, before anything is measured, what each TCP flow of a trial should get over a
// path with delay, and what will limit it: its link, the receiver's window, its send buffer, or
// losses by its congestion control. It takes the path from the topology, and the buffers from the
// hosts' settings and the sockets' options; of the connection, it uses only what the handshake
// agreed on (timestamps, window scaling).
//
// Without delay there is no prediction. The names are those of attribute.go, which says what did
// limit the flow. The formulas are in docs/limits.md.

const (
	// scaling is the bit of TCP_INFO's options for window scaling.
	scaling = 4
	// unscaled is the largest window without window scaling (RFC 9293, section 3.1).
	unscaled = 65535
	// advertised is the part of a receive buffer that is advertised as window at first. It can become
	// all of it, when the kernel has seen how well segments use their memory (tcp_adv_win_scale in
	// Documentation/networking/ip-sysctl.rst).
	advertised = 0.5
	// awake is the share of a send buffer that stays in use while its writer has more data: a writer
	// that waits is woken when a third is free (sk_stream_is_writeable), and a tenth of the rest is the
	// kernel's own data.
	awake = 0.6
	// superFrame is the most that TCP sends at once, in bytes.
	superFrame = 64 << 10
	// hostsS is the time that two hosts take in a round trip, and the delay of their timers, in
	// seconds.
	hostsS = 2e-4
	// doubt is the factor by which loss models are off if a trial sees only some losses.
	doubt = 2
)

// cuts are the factors by which congestion controls reduce a window at a loss (RFC 5681, RFC 9438).
// bbr does not; it probes for more, and then lets its queue drain by a quarter.
var cuts = map[string]float64{"reno": 0.5, "cubic": 0.7, "bbr": 0.75}

// Predict returns the prediction for each flow, in their order; nil: there is none. The flows must
// have their Path and LimitBps. options are those of the flows, in the same order.
func Predict(flows []record.Flow, hosts []netstate.HostReading, over *topology.Topology,
	options []flow.Spec) []*record.Prediction {
	t := record.Trial{Hosts: hosts}
	expected := make([]*record.Prediction, len(flows))
	paths := make([]path, len(flows))
	on := map[string]int{} // flows by their bottleneck
	for i, f := range flows {
		paths[i] = pathOf(f, over)
		if flow.Of(f.Protocol).Bulk() { // requests take little of a link
			on[paths[i].bottleneck]++
		}
	}
	for i, f := range flows {
		tcp := flow.Of(f.Protocol).Name == flow.TCP
		if !tcp || !f.Connected || f.Process != "" || f.SenderInfo == nil || paths[i].rttS <= 0 || f.LimitBps <= 0 ||
			i >= len(options) {
			continue
		}
		expected[i] = predicted(t, f, paths[i], options[i], on[paths[i].bottleneck])
	}
	return expected
}

// path is what a flow's packets meet on their path and back.
type path struct {
	rttS       float64
	loss       float64 // share of frames with data that are lost
	bottleneck string  // interface before the slowest link
	queue      float64 // size of that interface's queue, in bytes
}

// pathOf follows the interfaces of a flow's path, an egress and an ingress by turns. It returns the
// zero value if the path is not known.
func pathOf(f record.Flow, over *topology.Topology) path {
	w, slowest, arrives := path{}, 0.0, 1.0
	ends := f.Ends()
	for i := 0; i+1 < len(ends); i += 2 {
		out, in := ends[i], ends[i+1]
		link, ok := over.LinkAt(out)
		if !ok {
			return path{}
		}
		there, back := link.Towards(out), link.Towards(in)
		w.rttS += there.Delay.Seconds() + back.Delay.Seconds()
		arrives *= 1 - float64(there.Loss)
		if rate := float64(there.Rate); rate > 0 && (slowest == 0 || rate < slowest) {
			slowest, w.bottleneck, w.queue = rate, f.Path[i], float64(there.QueueSize())
			if mark := there.ECN.At(there.Rate); mark > 0 {
				w.queue = float64(mark) // from there on windows are cut
			}
		}
	}
	w.loss = 1 - arrives
	return w
}

// bound is a cause that limits a flow to a rate between low and high.
type bound struct {
	low, high float64
	by        string
	why       any // fact that shows it
}

// predicted combines the bounds. The lowest one limits the flow; where bounds overlap, the flow may
// get less than the one that is named.
func predicted(t record.Trial, f record.Flow, w path, o flow.Spec, sharing int) *record.Prediction {
	path := limits.Path{RateBps: f.LimitBps, RTTS: w.rttS, Segment: int(f.SenderInfo.SndMSS)}
	bounds := []bound{link(f, w, path, sharing)}
	if b, ok := receiver(t, f, path, o); ok {
		bounds = append(bounds, b)
	}
	if b, ok := sender(t, f, path, o); ok {
		bounds = append(bounds, b)
	}
	if b, ok := losses(f, w, path); ok {
		bounds = append(bounds, b)
	}
	if most := f.CapBps(); most > 0 && most <= f.LimitBps {
		by := RateCap
		switch most {
		case f.WriteCapBps:
			by = Application
		case f.ReadCapBps:
			by = SlowReader
		}
		bounds = append(bounds, bound{0.95 * most, most, by, fact.Capped{Bps: most}})
	}
	lowest := bounds[0]
	for _, b := range bounds[1:] {
		if b.high < lowest.high {
			lowest = b
		}
	}
	p := &record.Prediction{LowBps: lowest.low, HighBps: lowest.high, LimitedBy: lowest.by, Facts: facts(lowest.why),
		RTTS: w.rttS}
	for _, b := range bounds {
		p.LowBps = min(p.LowBps, b.low)
	}
	return p
}

// link returns the flow's even part of its slowest link. After a loss, a single flow leaves a part
// of it unused unless the queue before it is long.
func link(f record.Flow, w path, path limits.Path, sharing int) bound {
	cut := cuts[f.CongestionControl]
	if cut == 0 {
		cut = cuts["reno"]
	}
	part, trough := path.RateBps/float64(max(sharing, 1)), path.Trough(w.queue, cut)
	why := fact.LinkFilled{FlyingBytes: path.BDP(), RateBps: path.RateBps}
	if sharing > 1 {
		// Which flow has how much of a link that several share is chance.
		why.Flows = sharing
		return bound{part * trough / 2, path.RateBps, FullLink, why}
	}
	why.AfterLoss, why.QueueBytes = trough, w.queue
	return bound{part * trough, part, FullLink, why}
}

// receiver returns the bound by the window that the receive buffer allows; false: not known.
func receiver(t record.Trial, f record.Flow, path limits.Path, o flow.Spec) (bound, bool) {
	size, parameter := float64(f.RcvbufBytes), ""
	if o.Window == 0 && o.ReceiveBuffer == 0 {
		size, parameter = third(t, f.To, "net.ipv4.tcp_rmem"), "tcp_rmem"
	}
	if f.SenderInfo.Options&scaling == 0 {
		low, window := float64(unscaled), float64(unscaled)
		if size > 0 {
			low, window = min(low, advertised*size), min(window, size)
		}
		b := windowed(path, low, window, ReceiverWindow)
		b.why = fact.UnscaledWindow{Bytes: window, RTTS: path.RTTS}
		return b, true
	}
	if size <= 0 {
		return bound{}, false
	}
	low := advertised * size
	if segment := float64(path.Segment); segment > 0 && low > segment {
		low -= math.Mod(low, segment) // what does not hold a whole segment waits (RFC 9293, 3.8.6.2)
	}
	b := windowed(path, low, size, ReceiverWindow)
	b.why = fact.WindowOfBuffer{Parameter: parameter, Bytes: size, RTTS: path.RTTS}
	return b, true
}

// sender returns the bound by what the send buffer has in flight; false: not known.
func sender(t record.Trial, f record.Flow, path limits.Path, o flow.Spec) (bound, bool) {
	size, parameter := float64(f.SndbufBytes), ""
	if o.Window == 0 && o.SendBuffer == 0 {
		size, parameter = third(t, f.From, "net.ipv4.tcp_wmem"), "tcp_wmem"
	}
	if size <= 0 {
		return bound{}, false
	}
	b := windowed(path, awake*size, size+limits.BeyondSendBuffer, SendBuffer)
	b.why = fact.FlightOfBuffer{Parameter: parameter, Least: awake, Bytes: size, RTTS: path.RTTS}
	return b, true
}

// losses returns the bound by losses, for congestion controls that take them for congestion; false:
// there is none.
func losses(f record.Flow, w path, path limits.Path) (bound, bool) {
	if w.loss <= 0 || IsBBR(f) {
		return bound{}, false
	}
	low, high := path.Reno(w.loss)
	if f.CongestionControl == "cubic" {
		low, high = path.Cubic(w.loss)
	}
	low = min(low, path.RenoTimeouts(w.loss))
	return bound{low / doubt, min(path.RateBps, doubt*high), CongestionWindow,
		fact.LossModel{Loss: w.loss, CongestionControl: f.CongestionControl, LowBps: low, HighBps: high}}, true
}

// windowed returns what a window between two sizes carries: at most one window in each round trip.
// For the low rate, a round trip is longer by the time that a super-frame takes to be sent, which
// is acknowledged when all of it has arrived, and by the time that the two hosts take.
func windowed(path limits.Path, low, high float64, by string) bound {
	slow := path
	slow.RTTS += min(low, superFrame)*8/path.RateBps + hostsS
	return bound{low: slow.WindowBps(low), high: path.WindowBps(high), by: by}
}

// third returns the third value of a parameter on a host: the size up to which the kernel's
// autotuning goes; 0: not known.
func third(t record.Trial, host, key string) float64 {
	h, _ := t.Reading(host)
	fields := strings.Fields(h.Snapshot.Sysctls[key])
	if len(fields) != 3 {
		return 0
	}
	value, _ := strconv.ParseFloat(fields[2], 64)
	return value
}
