package server

import (
	"fmt"

	"linerate/internal/host/iperf3"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// largestWindow is the most memory that the kernel may reserve for one of a client's connections, per
// direction.
const largestWindow = 64 << 20

// check returns why a test is refused, with a code for which the client has a text. It sets defaults for what a
// client may omit.
func check(p *iperf3.Parameters, b message.Bounds) error {
	within := func(code iperf3.Code, name string, value iperf3.Int, low, high int64) error {
		if int64(value) < low || int64(value) > high {
			return refuse(code, "%s of %d: expected %d to %d", name, value, low, high)
		}
		return nil
	}
	switch {
	case p.SCTP:
		return refuse(iperf3.CodeProtocol, "sctp: expected tcp or udp")
	case p.TCP == p.UDP:
		return refuse(iperf3.CodeProtocol, "both tcp and udp, or neither: expected one of them")
	}
	smallest, largest, size := int64(1), int64(iperf3.MaxTCPLength), iperf3.CodeBlockSize
	if p.UDP {
		smallest, largest, size = iperf3.MinUDPLength, iperf3.MaxUDPLength, iperf3.CodeUDPBlockSize
	}
	if p.Length == 0 {
		p.Length = iperf3.DefaultLength
		if p.UDP {
			p.Length = defaultDatagram
		}
	}
	for _, err := range []error{
		within(iperf3.CodeDuration, "a time", p.Time, 0, iperf3.MaxTimeS),
		within(iperf3.CodeOmit, "an omitted time", p.Omit, 0, iperf3.MaxOmitS),
		within(iperf3.CodeStreams, "a number of streams", p.Parallel, 1, iperf3.MaxStreams),
		within(size, "a block", p.Length, smallest, largest),
		within(iperf3.CodeWindow, "a window", p.Window, 0, iperf3.MaxWindow),
		within(iperf3.CodeMSS, "a segment size", p.MSS, 0, iperf3.MaxMSS),
		within(iperf3.CodeTOS, "a type of service", p.TOS, 0, iperf3.MaxTOS),
		within(iperf3.CodeBurst, "a burst", p.Burst, 0, iperf3.MaxBurst),
		within(iperf3.CodeTotalRate, "a rate", p.Bandwidth, 0, 1<<62),
		within(iperf3.CodeTotalRate, "a rate", p.FQRate, 0, 1<<62),
	} {
		if err != nil {
			return err
		}
	}
	if p.Reverse && p.Bidirectional {
		return refuse(iperf3.CodeReverseBidir, "both reverse and bidirectional")
	}
	return bounded(p, b)
}

// defaultDatagram is the size if a client gives none.
const defaultDatagram = 1460

// bounded returns which limit of this server a test exceeds.
func bounded(p *iperf3.Parameters, b message.Bounds) error {
	if n := p.Streams(); n > b.Flows {
		return refuse(iperf3.CodeStreams, "%d streams: this server allows a client %d", n, b.Flows)
	}
	if s := float64(p.Time + p.Omit); s > b.DurationS {
		code := iperf3.CodeMaxDuration
		if older(p.ClientVersion, 3, 20) {
			code = iperf3.CodeDuration // old clients have no text for the other
		}
		return refuse(code, "a test of %v: this server allows %v (--max-duration)", unit.Duration(s*1e9),
			unit.Duration(b.DurationS*1e9))
	}
	if b.RateBps == 0 {
		return nil
	}
	asked := max(p.Bandwidth, p.FQRate)
	switch {
	case float64(asked)*float64(p.Parallel) > b.RateBps:
		return refuse(iperf3.CodeTotalRate, "%s on each of %d streams: this server allows %s",
			unit.BitRate(asked), p.Parallel, unit.BitRate(b.RateBps))
	case p.UDP && asked == 0 && !p.Reverse:
		// Nothing limits a client that sends datagrams.
		return refuse(iperf3.CodeTotalRate, "datagrams at any rate: this server allows %s", unit.BitRate(b.RateBps))
	}
	return nil
}

// older reports whether a version such as 3.12 or 3.17+ is below major.minor. An unreadable version counts as
// older.
func older(version string, major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(version, "%d.%d", &a, &b); err != nil {
		return true
	}
	return a < major || a == major && b < minor
}
