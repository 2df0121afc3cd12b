package bottleneck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
	"testing"

	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// causes returns the values of the constants that a flow can be limited by, from the source, and "".
func causes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "attribute.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{""}
	for _, d := range file.Decls {
		group, is := d.(*ast.GenDecl)
		if !is || group.Tok != token.CONST {
			continue
		}
		for _, one := range group.Specs {
			value, is := one.(*ast.ValueSpec).Values[0].(*ast.BasicLit)
			if is && value.Kind == token.STRING {
				text, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, text)
			}
		}
	}
	if len(list) < 14 {
		t.Fatalf("causes: %q", list)
	}
	return list
}

// TestEachCauseHasAStep: whatever a flow is limited by, there is a step, and another one than for a
// flow whose cause is not known; with all figures known, and with none.
func TestEachCauseHasAStep(t *testing.T) {
	trial, f := lossyTrial()
	for _, by := range causes(t) {
		for _, one := range []record.Flow{f, {}} {
			one.LimitedBy = by
			steps := Next(trial, one, &topology.Topology{}, "10.0.0.1")
			if len(steps) == 0 {
				t.Errorf("%q: no step", by)
				continue
			}
			if h := steps[0].Hint; h != nil {
				if _, is := h.Is.(hint.LookDuring); is != (by == "") {
					t.Errorf("%q: %+v", by, h.Is)
				}
			}
		}
	}
	short := record.Flow{LimitedFacts: []fact.Fact{{Is: fact.ShortWindow{WindowS: 0.1, RTTS: 0.2}}}}
	if s := Next(trial, short, &topology.Topology{}, ""); s[0].Hint.Is != (hint.MeasureLonger{Seconds: 20}) {
		t.Errorf("a short window: %+v", s[0].Hint)
	}
}

// lossyTrial is a trial with one flow of cubic at 100 Mbit/s, 40 ms and a loss of 0.2 %.
func lossyTrial() (*record.Trial, record.Flow) {
	f := record.Flow{ID: "1", From: "client", To: "server", OpenedBy: "client", Connected: true,
		Destination: "10.0.0.1:5201", GoodputBps: 5e6, LimitBps: 100e6, CongestionControl: "cubic",
		SentBytes: 1e6, RetransBytes: 2000, AckedBytes: 1e6,
		SenderInfo: &netstate.TCPInfo{MinRTTUs: 40000, RTTUs: 41000, SndMSS: 1448, Options: scaling}}
	return &record.Trial{Flows: []record.Flow{f}, Hosts: []netstate.HostReading{
		{Host: "client", Snapshot: netstate.Snapshot{Sysctls: map[string]string{available: "reno cubic",
			"net.ipv4.tcp_wmem": "4096 16384 65536"}}},
		{Host: "server", Snapshot: netstate.Snapshot{Sysctls: map[string]string{
			"net.ipv4.tcp_rmem": "4096 131072 67108864"}}}}}, f
}

// TestNextOfCongestion: a lossy path has what its congestion control carries by the published
// response function, another one to try, whether the sender has it, and a lab of the path.
func TestNextOfCongestion(t *testing.T) {
	trial, f := lossyTrial()
	f.LimitedBy = CongestionWindow
	steps := Next(trial, f, &topology.Topology{}, "10.0.0.1")
	if len(steps) != 3 {
		t.Fatalf("%d steps", len(steps))
	}
	carries, _ := steps[0].Hint.Is.(hint.LossCarries)
	// Mathis: sqrt(3/2)·1448 B·8/(40 ms·sqrt(0.002)); CUBIC: 1.054·(0.04/0.002)^¾ segments per RTT.
	mathis := math.Sqrt(1.5) * 1448 * 8 / (0.04 * math.Sqrt(0.002))
	cubic := 1.054 * math.Pow(0.04/0.002, 0.75) * 1448 * 8 / 0.04
	if want := max(mathis, cubic); math.Abs(carries.HighBps/want-1) > 0.01 || carries.LowBps > carries.HighBps ||
		carries.MeasuredBps != 5e6 || carries.Loss != 0.002 || carries.RTTS != 0.04 {
		t.Errorf("%+v, want up to %g", carries, want)
	}
	if try := steps[1].Hint.Is; try != (hint.TryControl{CongestionControl: "bbr", CarriesBps: 0.998 * 100e6,
		Host: "client", Absent: true, Address: "10.0.0.1"}) {
		t.Errorf("%+v", try)
	}
	if lab := steps[2].Hint.Is; lab != (hint.Reproduce{RateBps: 100e6, RTTS: 0.04, Loss: 0.002}) {
		t.Errorf("%+v", lab)
	}
	f.CongestionControl = "htcp" // of which no response function is known here
	for _, s := range Next(trial, f, &topology.Topology{}, "") {
		if _, is := s.Hint.Is.(hint.LossCarries); is {
			t.Errorf("of htcp: %+v", s.Hint.Is)
		}
	}
	f.CongestionControl = "bbr"
	if steps := Next(trial, f, &topology.Topology{}, ""); len(steps) != 1 {
		t.Errorf("bbr: %+v", steps)
	}
	f.CongestionControl, f.SenderInfo.MinRTTUs = "cubic", 50 // no lab has such a path
	if steps := Next(trial, f, &topology.Topology{}, ""); len(steps) != 2 {
		t.Errorf("a short path: %+v", steps)
	}
}

// TestNextOfBuffers: a parameter that is too small for the path is set, with its other values; one
// that is large enough leaves the program's own size.
func TestNextOfBuffers(t *testing.T) {
	trial, f := lossyTrial()
	f.LimitedBy = SendBuffer
	set := Next(trial, f, &topology.Topology{}, "")[0].Setting
	if set == nil || set.Sysctl[0].Key != "net.ipv4.tcp_wmem" || set.Sysctl[0].Value[:11] != "4096 16384 " {
		t.Errorf("send buffer: %+v", set)
	}
	f.LimitedBy = ReceiverWindow
	h, is := Next(trial, f, &topology.Topology{}, "")[0].Hint.Is.(hint.OwnWindow)
	if !is || !h.Receive || float64(h.Bytes) < 100e6/8*0.04 {
		t.Errorf("receiver window: %+v", h)
	}
}
