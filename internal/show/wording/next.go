package wording

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/hint"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/bottleneck"
	"linerate/internal/show/number"
)

// Next returns what to do about what held a flow back (bottleneck.Next), a line for each step.
func Next(t *record.Trial, f record.Flow, over *topology.Topology, server string) (lines []string) {
	return lists.Flat(bottleneck.Next(t, f, over, server), func(s record.Step) []string { return Step(s, false) })
}

// NextOf returns what to do about what held the flows of a window back: of each cause, direction and
// pair of hosts the lines for the slowest flow, named if there are different lines.
func NextOf(run *record.Run, t *record.Trial) (lines []string) {
	type kind struct{ by, from, to string }
	slowest := map[kind]record.Flow{}
	var kinds []kind
	for _, f := range t.Flows {
		if f.Probe || !f.Connected || flow.Of(f.Protocol).Transactional() {
			continue
		}
		k := kind{f.LimitedBy, f.From, f.To}
		if other, is := slowest[k]; !is || f.GoodputBps < other.GoodputBps {
			slowest[k] = f
			if !is {
				kinds = append(kinds, k)
			}
		}
	}
	ids := map[string][]string{} // of the flows that have the same steps
	var order []string
	for _, k := range kinds {
		f, server := slowest[k], ""
		if run.Study == record.MeasureStudy {
			server = serverOf(f)
		}
		steps := strings.Join(Next(t, f, &run.Topology, server), "\n")
		if ids[steps] == nil {
			order = append(order, steps)
		}
		ids[steps] = append(ids[steps], f.ID)
	}
	for _, steps := range order {
		if len(order) > 1 {
			steps = strings.Join(ids[steps], ", ") + ": " + steps
		}
		lines = append(lines, strings.Split(steps, "\n")...)
	}
	return lines
}

// serverOf returns the address of the host that accepted a flow; empty: not known.
func serverOf(f record.Flow) string {
	server := f.SourceAddr()
	if f.From == f.OpenedBy {
		server = f.DestinationAddr()
	}
	if !server.IsValid() {
		return ""
	}
	return server.String()
}

// at returns the interface of a name such as client.eth0, as a command on its host has it.
func at(name string) string {
	if _, device, is := strings.Cut(name, "."); is {
		return device
	}
	return "DEV"
}

// rounded returns a figure with three significant digits, as commands have it.
func rounded(v float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}

// sources are where the response functions of congestion controls are from, and what they suppose.
var sources = map[string]string{
	"reno":  "RFC 5681 by Mathis et al. 1997: each loss halves the window",
	"cubic": "RFC 9438, section 5, and not less than RFC 5681 by Mathis et al. 1997",
}

var _ = later(func() {
	advise(func(h hint.LossCarries) string {
		return fmt.Sprintf("at a loss of %s and an RTT of %s %s carries %s in a connection (%s; losses single and "+
			"random, no timeouts); measured: %s", unit.FormatPercent(h.Loss), unit.FormatSeconds(h.RTTS),
			h.CongestionControl, rateRange(h.LowBps, h.HighBps), sources[h.CongestionControl],
			unit.FormatRate(h.MeasuredBps))
	})
	advise(func(h hint.TryControl) string {
		words := []string{"linerate", "measure", h.Address, "-C", h.CongestionControl}
		if h.Read {
			words = append(words, "--direction", "read")
		}
		text := fmt.Sprintf("try %s: ", h.CongestionControl)
		if h.Address == "" {
			text += fmt.Sprintf("a level with workload: {congestion_control: %s}, as in the study of linerate new wan",
				h.CongestionControl)
		} else {
			text += strings.Join(words, " ")
		}
		if h.CarriesBps > 0 {
			text += fmt.Sprintf("; by its model it carries up to %s, the path's rate without what is lost",
				unit.FormatRate(h.CarriesBps))
		}
		if h.Absent {
			text += fmt.Sprintf("; %s has not loaded it (net.ipv4.tcp_available_congestion_control): modprobe tcp_%s",
				h.Host, h.CongestionControl)
		}
		return text
	})
	advise(func(h hint.Reproduce) string {
		words := []string{"linerate", "new", "wan", "--rate", unit.BitRate(rounded(h.RateBps)).String(), "--rtt",
			unit.Duration(time.Duration(rounded(h.RTTS * 1e9))).String()}
		if percent := rounded(100 * h.Loss); percent > 0 {
			words = append(words, "--loss", unit.Ratio(percent/100).String())
		}
		return "compare them in a lab of this path: " + hostconfig.Command(words...)
	})
	advise(func(h hint.OwnWindow) string {
		size, option := "a larger size", "SO_SNDBUF"
		if h.Receive {
			option = "SO_RCVBUF"
		}
		if h.Bytes > 0 {
			size = fmt.Sprintf("%s or more, which the path holds,", unit.FormatBytes(float64(h.Bytes)))
		}
		return fmt.Sprintf("have its program set %s by %s (linerate: --window), or not set it at all", size, option)
	})
	advise(func(h hint.FindWait) string {
		does := "writes"
		if h.Reads {
			does = "reads"
		}
		if h.CapBps > 0 {
			return fmt.Sprintf("the cap of its program, %s, holds it: raise or remove it", unit.FormatRate(h.CapBps))
		}
		return fmt.Sprintf("find what the program that %s waits for, its CPU, its disk, its locks: top -H, "+
			"iostat -x 1, strace -c -f -p PID", does)
	})
	advise(func(h hint.LiftCap) string {
		if h.Bps <= 0 {
			return "raise or remove the pacing rate of its program (SO_MAX_PACING_RATE; linerate: --rate-cap)"
		}
		return fmt.Sprintf("raise or remove its pacing rate of %s (SO_MAX_PACING_RATE; linerate: --rate-cap)",
			unit.FormatRate(h.Bps))
	})
	advise(func(h hint.WiderLink) string {
		what := "the link"
		if h.Interface != "" {
			what = "the link of " + h.Interface
		}
		if h.Shaper != "" {
			what = h.Shaper + " of " + h.Interface
		}
		if h.RateBps > 0 {
			what += ", " + unit.FormatRate(h.RateBps) + ","
		}
		if h.Shaper != "" {
			return what + " is the limit: see and raise its rate: tc -s qdisc show dev " + at(h.Interface)
		}
		return what + " carries all that it can: only a faster link, or less other traffic on it, gives more"
	})
	advise(func(h hint.AcknowledgementsFirst) string {
		return "let acknowledgements pass what waits before them: tc qdisc replace dev " + at(h.Interface) +
			" root fq_codel, or cake bandwidth RATE ack-filter below the rate of a slower link"
	})
	advise(func(h hint.LongerQueue) string {
		dev := at(h.Interface)
		return fmt.Sprintf("see the queue's drops, then try a fair or a longer one: tc -s qdisc show dev %s; "+
			"tc qdisc replace dev %[1]s root fq; ip link set dev %[1]s txqueuelen 10000", dev)
	})
	advise(func(hint.MoreCPU) string {
		return "give the traffic more CPU: more connections (linerate: --streams), nothing else on the host; " +
			"linerate top shows which CPU is busy, and by what"
	})
	advise(func(h hint.ReachPeer) string {
		if h.Address == "" {
			return "look for what discards its packets: linerate doctor on both hosts"
		}
		return fmt.Sprintf("look for what discards its packets: linerate doctor --probe %s; ip route get %[1]s",
			h.Address)
	})
	advise(func(h hint.SendLess) string {
		if h.Bps <= 0 {
			return "look for what discards its datagrams: linerate doctor on both hosts"
		}
		return fmt.Sprintf("send at the rate that arrives, %s, and look for the drops beyond it: linerate measure "+
			"--protocol udp --rate-cap %s", unit.FormatRate(h.Bps), unit.BitRate(rounded(h.Bps)))
	})
	advise(func(h hint.SeeCarrier) string {
		return fmt.Sprintf("see why it lost the carrier, cable, port or driver: dmesg -T; ethtool %[1]s; "+
			"ip -s -s link show dev %[1]s", at(h.Interface))
	})
	advise(func(h hint.MeasureLonger) string {
		return "measure longer: --duration " + number.Significant(math.Max(1, math.Ceil(h.Seconds)), 3) + "s"
	})
	advise(func(hint.LookDuring) string {
		return "look at both hosts while the flow runs: linerate doctor --over 10s"
	})
})

// rateRange returns a range of rates, or the rate if both ends read alike.
func rateRange(low, high float64) string {
	a, b := unit.FormatRate(low), unit.FormatRate(high)
	if a == b {
		return a
	}
	return a + " to " + b
}
