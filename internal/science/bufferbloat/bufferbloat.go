// Package bufferbloat computes how much longer a response takes while a path is busy than while it
// is idle (the buffer delay of RFC 6349, section 4.3) and grades it. It does not find out which
// device's queue causes the delay.
package bufferbloat

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/limits"
)

// grades are the grades of record.LatencyGrades with the mean buffer delay below which each
// applies, the best first. The bounds are those of common tests of access lines. What they mean for
// speech follows ITU-T G.114: a one-way delay of up to 150 ms is not noticed, one beyond 400 ms
// prevents conversation.
var grades = []struct {
	name    string
	belowUs float64
	means   string
}{
	{"A+", 5e3, "hardly any queue: the load is not noticed"},
	{"A", 30e3, "a short queue: calls and games go on as before"},
	{"B", 60e3, "calls go on as before, fast games suffer"},
	{"C", 200e3, "calls suffer, pages open late"},
	{"D", 400e3, "people on a call begin to talk over each other"},
}

// worst is the grade of every delay that is too large for grades; worstMeans explains it.
const worst, worstMeans = "F", "hardly usable for anything but the load itself"

// On a path so short that a delay below shortUs is more than multiple times its idle median, the
// texts of the grades mislead: programs there notice the delay. Judge then says so.
const shortUs, multiple = 30e3, 10

// Grade returns the grade of a mean buffer delay in microseconds and a text that explains it.
func Grade(us float64) (name, means string) {
	for _, g := range grades {
		if us < g.belowUs {
			return g.name, g.means
		}
	}
	return worst, worstMeans
}

// itself lists the causes (Flow.LimitedBy) that lie in the load itself, not in the path. Such a
// load leaves a part of the path free and builds no queue there.
var itself = []string{bottleneck.Application, bottleneck.RateCap, bottleneck.SlowReader, bottleneck.ReceiverWindow,
	bottleneck.SendBuffer, bottleneck.Generator}

// Judge compares a probe's latencies without load (idle) and under load. loaded is nil if no
// request was answered under load. TCP's own round-trip times come from the flows that made the
// load and from the hosts' samples of them. Grade is empty if the flows, not the path, limited the
// load.
func Judge(idle, loaded *record.Distribution, flows []record.Flow, hosts []netstate.HostReading) *record.Latency {
	l := &record.Latency{Idle: idle, Loaded: loaded, BaselineUs: idle.MinUs}
	if loaded == nil {
		l.Grade, l.Means = worst, worstMeans+": not one request was answered"
	} else {
		l.BufferDelayUs = max(0, loaded.MeanUs-l.BaselineUs)
		l.BufferDelayPercent = percent(l.BufferDelayUs, l.BaselineUs)
		l.Grade, l.Means = Grade(l.BufferDelayUs)
		if times := l.RiseUs() / max(idle.P50Us, 1); times >= multiple && l.BufferDelayUs < shortUs {
			l.Means = fmt.Sprintf("for an access line; the load adds %.0f times the idle p50", times)
		}
		if by, own := heldByItself(flows); own {
			l.Grade, l.Means = "", "the load did not fill the path (held back by: "+by+
				"); bufferbloat shows where it does"
		}
	}
	if lost := lostShare(flows); lost >= audible && l.Grade != "" {
		l.Note = fmt.Sprintf(
			"by delay alone: %s of the load's datagrams were lost in the full queue, and calls and games lose "+
				"packets there, too",
			unit.FormatPercent(lost))
	}
	switch at, all := ownInterfaces(flows, hosts); {
	case len(at) == 0 && l.Grade != "" && l.Grade != worst && len(flows) > 0 &&
		!slices.ContainsFunc(flows, func(f record.Flow) bool { return !bottleneck.IsBBR(f) }):
		l.Note = "the load's bbr keeps queues short, which cubic would fill (--congestion-control cubic)"
	case !all || l.Grade == "" || l.BufferDelayUs >= shortUs:
	case len(at) == 1:
		l.Note = fmt.Sprintf(
			"the full link is the sender's own interface (%s): TCP small queues keep its queue short, a router's "+
				"would fill", at[0])
	default:
		l.Note = fmt.Sprintf(
			"the full links are the senders' own interfaces (%s): TCP small queues keep their queues short, a "+
				"router's would fill", strings.Join(at, ", "))
	}
	l.TCPBaselineUs, l.TCPRTTUs = roundTrips(flows, hosts)
	l.TCPBufferDelayPercent = percent(l.TCPRTTUs-l.TCPBaselineUs, l.TCPBaselineUs)
	return l
}

// audible is the share of lost packets above which calls break up.
const audible = 0.01

// lostShare returns the share of the datagrams of all flows that were lost, 0…1.
func lostShare(flows []record.Flow) float64 {
	var lost, all int64
	for _, f := range flows {
		if d := f.Datagrams; d != nil {
			lost, all = lost+d.Lost, all+d.Lost+d.Received
		}
	}
	return float64(lost) / float64(max(all, 1))
}

// heldByItself reports whether every flow was limited by one of the causes in itself, and names
// these causes. own is false if the cause of some flow is not known.
func heldByItself(flows []record.Flow) (by string, own bool) {
	var causes []string
	for _, f := range flows {
		if !slices.Contains(itself, f.LimitedBy) {
			return "", false
		}
		causes = append(causes, f.LimitedBy)
	}
	slices.Sort(causes)
	return strings.Join(slices.Compact(causes), ", "), len(causes) > 0
}

// nearlyFull is the share of its rate that an interface carries at least if it is the full link
// that holds a flow back. Otherwise another link is full that is as fast within a tenth.
const nearlyFull = 0.9

// ownInterfaces lists the sending hosts' own interfaces, with their shapers, where these are the
// full links of TCP flows. all is true if nothing else holds back any flow, except the queue in
// which a flow's acknowledgements wait behind the other direction's data. On its own host, TCP
// small queues (tcp_limit_output_bytes, ip-sysctl.rst) bound what a flow has queued.
func ownInterfaces(flows []record.Flow, hosts []netstate.HostReading) (list []string, all bool) {
	all = true
	full := map[string]string{} // by host
	for l := range limits.Loads(hosts, nil) {
		if l.Out && l.Share() >= nearlyFull {
			full[l.At.Node] = l.At.Node + " " + l.At.Interface
		}
	}
	for _, f := range flows {
		switch at := full[f.From]; {
		case f.LimitedBy == bottleneck.Acknowledgements:
		case at == "" || f.LimitedBy != bottleneck.FullLink || flow.Of(f.Protocol).Transport != flow.TCP:
			all = false
		case !slices.Contains(list, at):
			list = append(list, at)
		}
	}
	return list, all && len(list) > 0
}

func percent(more, of float64) float64 {
	if of <= 0 || more <= 0 {
		return 0
	}
	return 100 * more / of
}

// roundTrips returns, in microseconds, the smallest round-trip time that a sender's kernel saw, and
// the mean of its smoothed round-trip time over all flows and samples of the window. 0: unknown.
func roundTrips(flows []record.Flow, hosts []netstate.HostReading) (least, mean float64) {
	ours := map[string]string{} // sender by flow
	for _, f := range flows {
		if f.SenderInfo == nil {
			continue
		}
		ours[f.ID] = f.From
		if rtt := float64(f.SenderInfo.MinRTTUs); rtt > 0 && (least == 0 || rtt < least) {
			least = rtt
		}
	}
	sum, n := 0.0, 0
	for _, h := range hosts {
		for _, s := range h.Series {
			for _, f := range s.Flows {
				if ours[f.ID] == h.Host && f.RTTUs > 0 {
					sum, n = sum+float64(f.RTTUs), n+1
				}
			}
		}
	}
	if n > 0 {
		mean = sum / float64(n)
	}
	return least, mean
}
