package present

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/limits"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// measuredRows returns the rows of a direction: its name, its figure with remarks, and the figure
// of a peer that is another program.
func measuredRows(m *export.Measurement, d export.Direction) [][]string {
	if d.Transactions != nil {
		return transactionRows(m, d)
	}
	text := againstLimit(m, d)
	if d.Counted != "" {
		text = howCounted(m, d) + "; " + text
	}
	rows := [][]string{{d.Direction, unit.FormatRate(d.GoodputBps), text}}
	g := d.Datagrams
	if g != nil && g.Skipped > 0 {
		figure, why := sent(m, d)
		rows = append(rows, []string{"", figure, why})
	}
	if text := fragments(m, d); text != "" {
		rows = append(rows, []string{"", "", text})
	}
	switch {
	case g == nil:
	case d.Counted == "" || d.Counted == record.CountedReceived:
		rows = append(rows, datagramRows(m, d)...)
	default:
		where := "there in its own time"
		if d.Peer != nil && d.Peer.WholeTest {
			where = "there with the warm-up"
		}
		rows = append(rows,
			[]string{"", "lost " + unit.FormatPercent(d.LostShare),
				fmt.Sprintf("%s sent here in the window, %s received %s, %s missing", unit.FormatCount(g.Sent),
					unit.FormatCount(g.Received), where, unit.FormatCount(g.Lost))},
			[]string{"", "jitter " + jitter(g), "as iperf3 smooths it (RFC 1889)"})
	}
	if p := d.Peer; p != nil {
		rate := "?"
		if p.Seconds > 0 {
			rate = unit.FormatRate(p.GoodputBps)
		}
		rows = append(rows, []string{"", rate, peerSays(d)})
	}
	return rows
}

// datagramRows returns the rows about datagrams that linerate received.
func datagramRows(m *export.Measurement, d export.Direction) [][]string {
	g := d.Datagrams
	became := fmt.Sprintf("%s datagrams; %s sent, %s received, %s reordered, %s duplicates",
		unit.FormatCount(g.Lost), unit.FormatCount(g.Sent), unit.FormatCount(g.Received), unit.FormatCount(g.Reordered),
		unit.FormatCount(g.Duplicates))
	if more := g.Sent - g.Received - g.Lost; more > 0 {
		became += fmt.Sprintf(", %s more in flight or lost at the end of the window than at its beginning",
			unit.FormatCount(more))
	} else if more < 0 {
		became += fmt.Sprintf(", %s fewer in flight at the end of the window than at its beginning",
			unit.FormatCount(-more))
	}
	var rows [][]string
	if size := float64(d.ReceivedBytes) / float64(max(g.Received, 1)); size > 0 {
		text := "datagrams of " + unit.FormatBytes(math.Round(size))
		if d.LimitBps > 0 {
			text += fmt.Sprintf("; %s: %s", wording.MeasuredLimit(d.Limit, d.LimitWhy, m.Peer),
				number.PerSecond(d.LimitBps/8/size))
		}
		rows = append(rows, []string{"", number.PerSecond(d.GoodputBps / 8 / size), text})
	}
	rows = append(rows, []string{"", "lost " + unit.FormatPercent(d.LostShare), became})
	if g.LostInBuffer > 0 {
		rows = append(rows, []string{"", "",
			fmt.Sprintf("up to %s of them in the receiving socket's buffer (%s), not in the network",
				unit.FormatCount(g.LostInBuffer), unit.FormatBytes(float64(g.BufferBytes)))})
	}
	rows = append(rows,
		[]string{"", "jitter " + jitter(g),
			"RFC 3550: smoothed difference between the spacing of datagrams as sent and as received"})
	if text := ofBursts(m, d); text != "" {
		rows = append(rows, []string{"", "", text})
	}
	if v := g.Lateness; v != nil {
		median, others := percentiles(v, 4, "calls")
		rows = append(rows, []string{"", "late " + median, "behind the schedule of sending; " + others})
	}
	if v := g.Delay; v != nil {
		above, values := "above the fastest datagram; ", "datagrams"
		if v.Count > 0 && v.Count < min(g.Received, record.PercentileNeeds(0.999)) {
			above, values = above+
				"of each burst that was sent at once the first is timed, since the others wait behind it: ", "bursts"
		}
		median, others := percentiles(v, 4, values)
		rows = append(rows, []string{"", "delay " + median, above + others})
	}
	return rows
}

// holdSenders are the limits that delay a sender of datagrams. Loss after its host does not.
var holdSenders = []string{bottleneck.Generator, bottleneck.InterfaceQueue, bottleneck.FullLink}

// sent says how much of the requested rate was sent, and what delayed the senders.
func sent(m *export.Measurement, d export.Direction) (figure, text string) {
	g := d.Datagrams
	requested, bits, of, why, senders := 0.0, 0.0, "", "", 0
	for _, f := range m.Flows {
		if !d.Has(f) {
			continue
		}
		senders++
		requested += f.CapBps()
		if f.Datagrams != nil {
			bits += 8 * float64(f.Datagrams.Sent) * float64(f.Datagrams.Bytes)
		}
		if why == "" && f.Datagrams != nil && f.Datagrams.Skipped > 0 && slices.Contains(holdSenders, f.LimitedBy) {
			of, why = f.ID+" by ", fmt.Sprintf("%s (%s)", f.LimitedBy, f.LimitedWhy)
		}
	}
	late := unit.FormatSeconds(flow.MaxLate.Seconds())
	text = fmt.Sprintf("%s datagrams were given up %s after they were due", unit.FormatCount(g.Skipped), late)
	if g.Skipped == 1 {
		text = fmt.Sprintf("1 datagram was given up %s after it was due", late)
	}
	share := float64(g.Sent) / float64(g.Sent+g.Skipped)
	sentBps := bits / m.DurationS
	if requested > 0 && bits > 0 {
		share = min(1, sentBps/requested) // as the rate; the count may include a stall at an edge
	}
	percent := unit.FormatPercent(share)
	if percent == unit.FormatPercent(1) {
		percent = "<" + percent
	}
	if requested > 0 {
		text = fmt.Sprintf("%s of the %s asked for: ", percent, unit.FormatRate(requested)) + text
		percent = unit.FormatRate(cmp.Or(sentBps, share*requested))
	}
	if senders == 1 { // with several it is the reason of one of them
		of = ""
	}
	if why != "" {
		text += ", held up: " + of + why
	}
	return "sent " + percent, text
}

// fragments says that each datagram of a direction is sent as several packets. Empty: as one, or
// the MTU of its route is unknown.
func fragments(m *export.Measurement, d export.Direction) string {
	for _, f := range m.Flows {
		if !d.Has(f) {
			continue
		}
		frame := limits.FrameOf(f)
		if n := frame.Packets(); frame.MTU > 0 && n > 1 {
			return fmt.Sprintf(
				"each datagram of %d bytes is %d IP fragments at an MTU of %d: one lost fragment loses it; -l %d "+
					"avoids them",
				frame.Datagram, n, frame.MTU, frame.MostUnfragmented())
		}
	}
	return ""
}

// ofBursts says that the sender's bursts cause the jitter: several datagrams passed to the kernel
// in one call arrive at the rate of the link. Empty: they do not.
func ofBursts(m *export.Measurement, d export.Direction) string {
	burst := 0.0 // bytes
	for _, f := range m.Flows {
		if d.Has(f) && f.CallBytes >= 2*int64(d.Datagrams.Bytes) {
			burst = max(burst, float64(f.CallBytes))
		}
	}
	rate := cmp.Or(d.LimitBps, d.GoodputBps)
	if burst == 0 || rate == 0 {
		return ""
	}
	us := burst * 8 / rate * 1e6
	if own, _ := d.Datagrams.Jitter(); own < us/2 {
		return ""
	}
	return fmt.Sprintf(
		"a burst of %.0f KiB takes %s at %s: the jitter and the delay are those of the sender's bursts; for the "+
			"path's own use a --rate-cap below the limit",
		burst/1024, number.Microseconds(us), unit.FormatRate(rate))
}

// howCounted says where and when a direction's bytes were counted. If the figure is over the
// server's own time, it includes what was sent in the window, which differs.
func howCounted(m *export.Measurement, d export.Direction) string {
	switch d.Counted {
	case record.CountedReceived:
		return "received here, in the window"
	case record.CountedAcknowledged:
		return "acknowledged by the server's kernel, in the window"
	case record.CountedLessLoss:
		return fmt.Sprintf("sent here in the window, less the %s that the server counts as lost",
			unit.FormatPercent(d.LostShare))
	}
	text := "received there, by the server's own time"
	if d.Peer != nil && d.Peer.Seconds > 0 {
		text += " of " + unit.FormatSeconds(d.Peer.Seconds)
	}
	if d.Datagrams != nil && d.WrittenBytes > 0 && m.DurationS > 0 {
		text += fmt.Sprintf("; %s sent here in the window of %s",
			unit.FormatRate(float64(d.WrittenBytes)*8/m.DurationS), unit.FormatSeconds(m.DurationS))
	}
	return text
}

// peerSays returns the peer's own figure.
func peerSays(d export.Direction) string {
	p := d.Peer
	verb := "received"
	if d.Counted == record.CountedReceived {
		verb = "sent"
	}
	text := fmt.Sprintf("iperf3's own: it %s %s", verb, unit.FormatBytes(float64(p.Bytes)))
	if p.Seconds > 0 {
		text += " in its " + unit.FormatSeconds(p.Seconds)
	} else {
		text += ", and does not report in what time"
	}
	if verb == "sent" && p.Retransmits >= 0 && p.Datagrams == nil {
		text += ", and resent " + words.Count(int(p.Retransmits), "segment")
	}
	return text
}

// againstLimit returns a direction's goodput as a share of its limit, and its range over the
// intervals.
func againstLimit(m *export.Measurement, d export.Direction) string {
	why := wording.Limit(d.Limit, d.LimitWhy)
	text := "limit " + why
	if d.LimitBps > 0 {
		text = fmt.Sprintf("%s of %s, %s (%s)", unit.FormatPercent(d.GoodputBps/d.LimitBps),
			wording.MeasuredLimit(d.Limit, d.LimitWhy, m.Peer), unit.FormatRate(d.LimitBps), why)
	}
	if slowest, fastest := slowestAndFastest(d, func(i record.Interval) float64 {
		return i.GoodputBps
	}); len(d.Intervals) > 1 {
		text += fmt.Sprintf("; %s to %s %s", unit.FormatRate(slowest), unit.FormatRate(fastest), perInterval(d))
	}
	return text
}

// perInterval says over which intervals the slowest and the fastest rate are measured.
func perInterval(d export.Direction) string {
	if length := d.Intervals[0].ToS - d.Intervals[0].FromS; length > 0 {
		return "by intervals of " + unit.FormatSeconds(math.Round(100*length)/100)
	}
	return "by interval"
}

// transactionRows returns the rows of requests and responses.
func transactionRows(m *export.Measurement, d export.Direction) [][]string {
	t := d.Transactions
	rate := fmt.Sprintf("%s; %s done", flow.Of(m.Protocol).Transaction, unit.FormatCount(t.Done))
	if slowest, fastest := slowestAndFastest(d, func(i record.Interval) float64 {
		return i.RatePerS
	}); len(d.Intervals) > 1 && fastest > 0 {
		rate += fmt.Sprintf(", %s to %s %s", number.PerSecond(slowest), number.PerSecond(fastest), perInterval(d))
	}
	if t.Failed > 0 {
		rate += fmt.Sprintf("; %s failed", unit.FormatCount(t.Failed))
	}
	rows := [][]string{{"rate", number.PerSecond(d.RatePerS), rate}}
	if l := d.LatencyUs; l != nil {
		median, others := percentiles(l, 5, "requests")
		rows = append(rows, []string{"latency", median, others})
	}
	if d.Lost != nil {
		text := "every request had its response within a second"
		if t.Unanswered > 0 {
			text = unit.FormatCount(t.Unanswered) + " without a response within a second"
		}
		if t.Late > 0 {
			text += fmt.Sprintf("; late or duplicate responses: %s", unit.FormatCount(t.Late))
		}
		rows = append(rows, []string{"", "lost " + unit.FormatPercent(d.LostShare), text})
	}
	if a := t.Application; a != nil {
		rows = append(rows, applicationRows(t)...)
	}
	if s := d.Scheduled; s != nil && s.InTime < s.Due {
		rows = append(rows, []string{"", "in time " + unit.FormatPercent(s.Share),
			fmt.Sprintf("of %s requests that were due: answered within %s; %s later, as those before them held the "+
				"connection, %s lost, %s not sent or not answered yet at the window's end", unit.FormatCount(s.Due),
				unit.FormatSeconds(s.WithinS), unit.FormatCount(s.Late), unit.FormatCount(s.Lost),
				unit.FormatCount(s.Unsent))})
	}
	const long = 1e6 // an answered request rarely waits that long
	if t.LongestWaitUs >= long {
		rows = append(rows, []string{"", "unanswered " + unit.FormatCount(t.Waiting),
			"at the window's end, for up to " + number.Microseconds(t.LongestWaitUs) + ": not among the figures above"})
	}
	open := unit.FormatCount(t.Connections) + " open"
	var memory []string
	for _, e := range m.Ends {
		if e.BytesPerConnection > 0 {
			memory = append(memory, fmt.Sprintf("%s %s", e.Host, unit.FormatBytes(float64(e.BytesPerConnection))))
		}
	}
	said := "at the window's end"
	if len(memory) > 0 {
		said += "; linerate's own memory for each: " + strings.Join(memory, ", ")
	}
	return append(rows, []string{"connections", open, said})
}

// applicationRows returns the rows of an application protocol's transactions: how they were
// answered, the time of their phases, and the causes of the slowest.
func applicationRows(t *record.Transactions) (rows [][]string) {
	a := t.Application
	failed := t.Failed + t.Unanswered + a.Errors
	text := evidence.Outcomes(a)
	if t.Unanswered > 0 {
		text += fmt.Sprintf("; without an answer in time: %s", unit.FormatCount(t.Unanswered))
	}
	if t.Late > 0 {
		text += fmt.Sprintf("; late or duplicate answers: %s", unit.FormatCount(t.Late))
	}
	share := "none"
	if all := t.Done + t.Failed + t.Unanswered; all > 0 {
		share = "errors " + unit.FormatPercent(float64(failed)/float64(all))
	}
	rows = append(rows, []string{"answers", share, text})
	for i, p := range a.Phases {
		median, others := percentiles(p.Times, 3, "requests")
		if t.Latency != nil && p.Times.Count < t.Latency.Count {
			others += fmt.Sprintf("; in %s of %s requests", unit.FormatCount(p.Times.Count),
				unit.FormatCount(t.Latency.Count))
		}
		rows = append(rows, []string{map[bool]string{true: "phases"}[i == 0], evidence.PhaseName(p.Phase) + " " +
			strings.TrimPrefix(median, "p50 "), others})
	}
	if slow := evidence.Slowest(a); slow != "" {
		rows = append(rows, []string{"slowest", number.Microseconds(a.Slow.LeastUs) + " and more",
			fmt.Sprintf("%s: most of the time went to: %s", words.Count(int(a.Slow.Count), "request"), slow)})
	}
	return rows
}

// percentiles formats the median and, of the first percentiles, the others and the maximum, each
// after its label. If there are too few values, percentiles above p99 are left out, and others are
// labelled by their rank, "3rd slowest"; the reason follows all of them: "(of 200 requests: p99
// needs 1,000)". The slowest one is labelled as the maximum.
func percentiles(d *record.Distribution, first int, values string) (median, others string) {
	var texts, needs []string
	for _, p := range d.Percentiles()[:first] {
		label := p.Name
		switch {
		case p.Rank == "":
		case p.Quantile > 0.99:
			continue // the maximum follows
		default:
			label = record.Slowest(p.Quantile, d.Count)
			needs = append(needs, p.Name+" needs "+unit.FormatCount(record.PercentileNeeds(p.Quantile)))
		}
		if label != "slowest" || p.Quantile == 0.5 {
			texts = words.Distinct(texts, label+" "+number.Microseconds(p.Us))
		}
	}
	others = strings.Join(append(texts[1:], "max "+number.Microseconds(d.MaxUs)), ", ")
	if d.Count == 1 {
		values = strings.TrimSuffix(values, "s")
	}
	if len(needs) > 0 {
		others += fmt.Sprintf(" (of %s %s: %s)", unit.FormatCount(d.Count), values, strings.Join(needs, ", "))
	}
	return texts[0], others
}

func slowestAndFastest(d export.Direction, of func(record.Interval) float64) (slowest, fastest float64) {
	for i, interval := range d.Intervals {
		if v := of(interval); i == 0 || v < slowest {
			slowest = v
		}
		fastest = max(fastest, of(interval))
	}
	return slowest, fastest
}

// measuredLatency returns a table with the results of a probe without load and under load.
func measuredLatency(m *export.Measurement, l *export.Latency) *document.Table {
	row := func(when string, d *record.Distribution) []string {
		if d == nil {
			return []string{when, "?", "no response"}
		}
		median, others := percentiles(d, 4, "requests")
		return []string{when, median, fmt.Sprintf("%s; %s responses", others, unit.FormatCount(d.Count))}
	}
	delay := fmt.Sprintf("on average above the fastest idle response, %s (RFC 6349)", number.Microseconds(l.BaselineUs))
	if l.Restless() {
		delay += fmt.Sprintf("; idle p50 is %.0f times that, %s", l.Idle.P50Us/max(l.BaselineUs, 1), unquiet(m))
	}
	if rise := l.RiseUs(); rise > 0 {
		delay += "; p50 rose by " + number.Microseconds(rise)
	}
	if l.TimedOut() {
		delay += fmt.Sprintf(
			"; the average counts responses that took up to %s, as retransmission timeouts (200 ms or more) make: "+
				"requests were lost as well",
			number.Microseconds(l.Loaded.MaxUs))
	}
	if l.TCPRTTUs > 0 && l.TCPBaselineUs > 0 {
		delay += fmt.Sprintf("; TCP's RTT rose from %s to %s", number.Microseconds(l.TCPBaselineUs),
			number.Microseconds(l.TCPRTTUs))
	}
	grade := "grade " + l.Grade
	if l.Grade == "" {
		grade = "no grade"
	}
	return document.FigureList([][]string{
		row("latency idle", l.Idle), row("under load", l.Loaded),
		{"buffer delay", "+" + number.Microseconds(l.BufferDelayUs), delay},
		{"bufferbloat", grade, strings.Join(slices.DeleteFunc([]string{l.Means, l.Note}, func(s string) bool {
			return s == ""
		}), "; ")},
	})
}

// busyOthers is the share of a host's CPUs from which on other programs may have delayed responses.
const busyOthers = 0.25

// unquiet says what may have delayed responses without the load: the path, or hosts whose CPUs
// other programs used.
func unquiet(m *export.Measurement) string {
	var busy []string
	for _, e := range m.Ends {
		if _, others := busyWith(m, e); others >= busyOthers {
			whose := " of the CPUs of the " + e.Host
			if m.OneMachine {
				whose = " of the machine's CPUs"
			}
			busy = words.Distinct(busy, number.Significant(100*others, 2)+" %"+whose)
		}
	}
	text := "the path or the hosts were not quiet without the load"
	if len(busy) > 0 {
		text += " (in the window other programs used " + strings.Join(busy, " and ") + ")"
	}
	return text
}

// measureTrust names every failed check with its detail, and the checks that passed.
func measureTrust(m *export.Measurement) (list []document.Block) {
	var passed []string
	for _, c := range m.Trust {
		if c.Unevaluated {
			continue
		}
		if c.Pass {
			passed = append(passed, c.Check)
			continue
		}
		list = append(list, document.Statement{Label: "Doubt", Text: c.Check + ": " + c.Detail, Tone: document.Wrong})
	}
	list = append(list, document.Statement{Label: "Trust", Text: fmt.Sprintf("%d of %d checks passed: %s", len(passed),
		len(m.Trust), strings.Join(passed, ", "))})
	if why := evidence.Unevaluated(m.Trust); why != "" {
		list = append(list, document.Statement{Label: "Not evaluated", Text: why})
	}
	hosts, missing := []string{}, []string{}
	for _, e := range m.Ends {
		if len(e.Missing) > 0 {
			hosts, missing = append(hosts, e.Host), append(missing, e.Missing...)
		}
	}
	if len(missing) > 0 {
		text := fmt.Sprintf("%s: %s; checks and findings that need them were not made", strings.Join(hosts, ", "),
			strings.Join(slices.Compact(missing), "; "))
		list = append(list, document.Statement{Label: "Not read", Text: text})
	}
	return list
}
