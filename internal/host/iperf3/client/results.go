package client

import (
	"encoding/json"
	"fmt"
	"unicode"

	"linerate/internal/host/iperf3"
	"linerate/internal/model/message"
	"linerate/internal/model/pattern"
	"linerate/internal/model/record"
)

// understand checks the server's results. It rejects a stream that was not opened, is listed twice, or is
// missing.
func (t *Test) understand(closed *message.Iperf3Closed) error {
	var r iperf3.Results
	if err := json.Unmarshal(closed.Results, &r); err != nil {
		return err
	}
	if got, want := len(r.Streams), t.params.Streams(); got != want {
		return fmt.Errorf("%d streams: expected %d", got, want)
	}
	for n := range t.params.Streams() {
		s := r.Find(iperf3.StreamID(n))
		switch {
		case s == nil:
			return fmt.Errorf("stream %d is missing", iperf3.StreamID(n))
		case s.Bytes < 0 || s.HasTimes && !(s.EndTime-s.StartTime >= 0):
			return fmt.Errorf("stream %d has %d bytes in %g s", s.ID, s.Bytes, s.EndTime-s.StartTime)
		}
		closed.Counts = append(closed.Counts, t.count(s, t.params.ServerSends(n)))
	}
	closed.Peer, closed.CPUPercent = program(r), r.CPUTotal
	if len(r.CongestionUsed) <= 16 { // TCP_CA_NAME_MAX
		closed.CongestionControl = r.CongestionUsed
	}
	return nil
}

// total returns what this host counted for a flow, without what the server does not count: the cookie, and the
// two bytes by which TCP acknowledges SYN and FIN.
func total(e message.FlowEnd) int64 {
	const more = iperf3.CookieBytes + 2
	switch {
	case !e.Sends:
		return e.ReceivedBytes
	case e.Info != nil:
		return max(0, int64(e.Info.BytesAcked)-more)
	}
	return e.WrittenBytes
}

// count returns the server's counts of one stream.
func (t *Test) count(s *iperf3.StreamResult, sends bool) record.PeerCount {
	c := record.PeerCount{Bytes: int64(s.Bytes), Retransmits: int64(s.Retransmits)}
	if seconds := s.EndTime - s.StartTime; s.HasTimes && seconds > 0 {
		c.Seconds, c.GoodputBps = seconds, float64(s.Bytes)*8/seconds
	}
	if !t.params.UDP {
		return c
	}
	c.WholeTest = !s.HasOmitted && t.params.Omit > 0
	packets, missing := int64(s.Packets-s.OmittedPackets), int64(s.Errors-s.OmittedErrors)
	if sends {
		c.Datagrams = &record.Datagrams{Sent: packets}
	} else {
		c.Datagrams = &record.Datagrams{Received: max(0, packets-missing), Lost: missing, JitterUs: s.Jitter * 1e6}
	}
	return c
}

var versionText = pattern.MustCompile(`(?m)^iperf (3[0-9A-Za-z.+-]{1,20})`)

// program returns the server's version if its output names it; the protocol does not transmit it.
func program(r iperf3.Results) string {
	var output struct {
		Start struct {
			Version string `json:"version"`
		} `json:"start"`
	}
	text := r.ServerOutputText
	if json.Unmarshal(r.ServerOutputJSON, &output) == nil {
		text = output.Start.Version
	}
	if m := versionText.FindStringSubmatch(text); m != nil {
		return "iperf3 " + m[1]
	}
	if version := output.Start.Version; version != "" && len(version) <= 40 {
		for _, r := range version {
			if !unicode.IsPrint(r) {
				return "iperf3"
			}
		}
		return version + ", as iperf3"
	}
	return "iperf3"
}
