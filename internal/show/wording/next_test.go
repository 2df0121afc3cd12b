package wording

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
	"linerate/internal/show/starter"
)

// TestNextOf: a measurement over a lossy path has what its congestion control carries, the command
// that tries another one, and the command of a lab, whose values linerate new takes.
func TestNextOf(t *testing.T) {
	flow := func(id string, bps float64) record.Flow {
		return record.Flow{ID: id, From: "server", To: "client", OpenedBy: "client", Connected: true,
			Source: "[2001:db8::1]:5201", GoodputBps: bps, LimitBps: 94.1e6, CongestionControl: "cubic",
			SentBytes: 3e6, RetransBytes: 6001, AckedBytes: 3e6, LimitedBy: bottleneck.CongestionWindow,
			SenderInfo: &netstate.TCPInfo{MinRTTUs: 40123, RTTUs: 41000, SndMSS: 1448}}
	}
	trial := record.Trial{Hosts: []netstate.HostReading{{Host: "server", Snapshot: netstate.Snapshot{
		Sysctls: map[string]string{"net.ipv4.tcp_available_congestion_control": "reno cubic"}}}}}
	trial.Flows = []record.Flow{flow("1", 8e6), flow("2", 5e6)}
	got := NextOf(&record.Run{Study: record.MeasureStudy}, &trial)
	want := []string{
		"at a loss of 0.2 % and an RTT of 40.1 ms cubic carries 5.59 Mbit/s to 7.906 Mbit/s in a connection " +
			"(RFC 9438, section 5, and not less than RFC 5681 by Mathis et al. 1997; losses single and random, " +
			"no timeouts); measured: 5 Mbit/s",
		"try bbr: linerate measure 2001:db8::1 -C bbr --direction read; by its model it carries up to 93.91 Mbit/s, " +
			"the path's rate without what is lost; server has not loaded it " +
			"(net.ipv4.tcp_available_congestion_control): modprobe tcp_bbr",
		"compare them in a lab of this path: linerate new wan --rate 94.1mbit --rtt 40.1ms --loss 0.2%",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	kind, _ := starter.Find("wan")
	for _, h := range []hint.Reproduce{{RateBps: 94123456.7, RTTS: 0.0401234, Loss: 0.0020003},
		{RateBps: 1e6, RTTS: 1, Loss: 0.1}, {RateBps: 1e8, RTTS: 0.04, Loss: 0.00389}, {RateBps: 10e9, RTTS: 1e-3}} {
		_, command, _ := strings.Cut(Step(record.Step{Hint: &hint.Hint{Is: h}}, true)[0], "linerate new wan ")
		if strings.Contains(command, "e-") {
			t.Errorf("a figure with an exponent: %s", command)
		}
		words := strings.Fields(command)
		for i := 0; i+1 < len(words); i += 2 {
			j := slices.IndexFunc(kind.Arguments, func(a starter.Argument) bool { return "--"+a.Name == words[i] })
			if j < 0 {
				t.Fatalf("%s: no %s", command, words[i])
			}
			if _, err := kind.Arguments[j].Parse(words[i+1]); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		}
	}
}
