package limits

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

func TestFraction(t *testing.T) {
	for _, test := range []struct {
		name    string
		frame   Frame
		percent float64 // computed by hand from the standards
	}{
		{"1500 v4 ts", Frame{}, 94.148},
		{"1500 v4 ts, 1 tag", Frame{VLANs: 1}, 93.904},
		{"1500 v4 ts, 2 tags", Frame{VLANs: 2}, 93.661},
		{"1500 v4", Frame{NoTimestamps: true}, 94.928},
		{"1500 v6 ts", Frame{IPv6: true}, 92.848},
		{"1500 v6", Frame{IPv6: true, NoTimestamps: true}, 93.628},
		{"9000 v4 ts", Frame{MTU: 9000}, 99.004},
		{"9000 v6 ts, 2 tags", Frame{MTU: 9000, IPv6: true, VLANs: 2}, 98.696},
		{"UDP v4", Frame{UDP: true}, 95.709},
		{"UDP v6", Frame{UDP: true, IPv6: true}, 94.408},
		{"UDP jumbo", Frame{UDP: true, MTU: 9000}, 99.270},
		{"UDP, the wire's shortest frame", Frame{UDP: true, Datagram: 18}, 100 * 18.0 / 84},
		{"UDP, padded to that", Frame{UDP: true, Datagram: 16}, 100 * 16.0 / 84},
		{"UDP, padded, tagged", Frame{UDP: true, Datagram: 16, VLANs: 1}, 100 * 16.0 / 88},
		{"UDP, not padded by a token bucket", Frame{UDP: true, Datagram: 16, Shaped: true}, 100 * 16.0 / 58},
		{"UDP 64 bytes", Frame{UDP: true, Datagram: 64}, 100 * 64.0 / 130},
		{"UDP that just fits", Frame{UDP: true, Datagram: 1472}, 95.709},
		// 1480 bytes of each packet are the datagram's, its own header included.
		// the second has 21 of 46 bytes
		{"UDP in two packets", Frame{UDP: true, Datagram: 1473}, 100 * 1473.0 / (1473 + 8 + 2*58 + 25)},
		{"VXLAN", Frame{}.Through("vxlan", false), 100 * 1398.0 / 1538},
		{"WireGuard over IPv6, with a VLAN tag", Frame{VLANs: 1}.Through("wireguard", true), 100 * 1368.0 / 1542},
		{"WireGuard pads short packets", Frame{UDP: true, Datagram: 64}.Through("wireguard", false), 100 * 64 / 194.0},
		{"WireGuard pads smaller segments", Frame{MSS: 1001}.Through("wireguard", false), 100 * 989 / 1154.0},
		{"WireGuard pads fragments", Frame{UDP: true, Datagram: 2000}.Through("wireguard", false), 100 * 2000 / 2260.0},
		{"WireGuard pads no further than its MTU", Frame{MTU: 1492}.Through("wireguard", false), 100 * 1380 / 1530.0},
		{"GRE over IPv6, with the encapsulation limit", Frame{}.Through("gre", true), 100 * 1396.0 / 1538},
		{"UDP as large as can be", Frame{UDP: true, Datagram: 65507}, 100 * 65507.0 / (65507 + 8 + 45*58)},
		// 1448 bytes, beside 40 and 8 of headers.
		{"UDP in two packets, v6", Frame{UDP: true, IPv6: true, Datagram: 1500},
			100 * 1500.0 / (1500 + 8 + 2*(38+40+8))},
		{"shaped", Frame{Shaped: true}, 95.641},
		// MSS 1448 leaves 1436 for payload beside 12 of timestamps: 1436/1526.
		{"MSS 1448", Frame{MSS: 1448}, 94.102},
		{"MSS above the MTU changes nothing", Frame{MSS: 8948}, 94.148},
		{"no room", Frame{MTU: 40}, 0},
	} {
		if got := 100 * test.frame.Fraction(); math.Abs(got-test.percent) > 0.0005 {
			t.Errorf("%s: %.4f %%, want %.3f %%", test.name, got, test.percent)
		}
		sum := 0
		for _, part := range test.frame.Parts() {
			sum += part.Bytes
		}
		if sum != test.frame.Wire() {
			t.Errorf("%s: parts add up to %d bytes, the frame takes %d", test.name, sum, test.frame.Wire())
		}
	}
	if got := 1e9 / 8 / float64(Frame{}.Wire()); math.Abs(got-81274) > 1 {
		t.Errorf("%.0f full frames/s per Gbit/s, want 81274", got)
	}
	if err := (Frame{MTU: 40}).Check(); err == nil {
		t.Error("an MTU of 40 leaves no payload, but passed")
	}
}

// star joins hosts to one switch, each by a link of its own rate (0: none).
func star(rates map[string]unit.BitRate, hosts ...topology.Host) *topology.Topology {
	t := &topology.Topology{Switches: []topology.Switch{{Name: "switch"}}, Hosts: hosts}
	for _, h := range hosts {
		for _, p := range h.Interfaces {
			end := topology.End{Node: h.Name, Interface: p.Name}
			t.Links = append(t.Links, topology.Link{
				From: end, To: topology.End{Node: "switch", Interface: h.Name + "-" + p.Name},
				Impairment: topology.Impairment{Rate: rates[h.Name]},
			})
		}
	}
	return t
}

func host(name string, addresses ...string) topology.Host {
	h := topology.Host{Name: name}
	for i, text := range addresses {
		a := netip.MustParseAddr(text)
		h.Interfaces = append(h.Interfaces, topology.Interface{
			Name:      fmt.Sprint("eth", i),
			Addresses: []topology.Address{{First: a, Last: a, Bits: 24}},
		})
	}
	return h
}

// nas is a server with four interfaces and two clients.
func nas(server, client unit.BitRate) *topology.Topology {
	return star(map[string]unit.BitRate{"server": server, "client1": client, "client2": client},
		host("server", "10.0.0.15", "10.0.0.16", "10.0.0.17", "10.0.0.18"),
		host("client1", "10.0.0.101"), host("client2", "10.0.0.102"))
}

func newFlow(t *testing.T, top *topology.Topology, from, source, destination string, o flow.Spec) Flow {
	t.Helper()
	var src netip.Addr
	if source != "" {
		src = netip.MustParseAddr(source)
	}
	f, err := NewFlow(top, from, src, netip.MustParseAddr(destination), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func everyFlow(t *testing.T, top *topology.Topology, o flow.Spec) (writes, reads []Flow) {
	for c := 1; c <= 2; c++ {
		for p := 15; p <= 18; p++ {
			server, client := fmt.Sprint("10.0.0.", p), fmt.Sprint("10.0.0.", 100+c)
			writes = append(writes, newFlow(t, top, fmt.Sprint("client", c), client, server, o))
			reads = append(reads, newFlow(t, top, "server", server, client, o))
		}
	}
	return writes, reads
}

func TestAggregate(t *testing.T) {
	const shaped = 1448.0 / 1514
	writes, reads := everyFlow(t, nas(1e9, 2.5e9), flow.Spec{})
	capped, _ := everyFlow(t, nas(1e9, 2.5e9), flow.Spec{RateCap: 100e6})
	real := nas(1e9, 2.5e9)
	real.Switches[0].Unmanaged = true
	many := nas(1e9, 10e9)
	var aliases []Flow
	for range 254 {
		aliases = append(aliases, newFlow(t, many, "client1", "", "10.0.0.15", flow.Spec{}))
	}
	slow := nas(1e9, 2.5e9)
	slow.Links[0].Reverse = &topology.Direction{Impairment: topology.Impairment{Rate: 100e6}}
	jumbo := nas(1e9, 2.5e9)
	for i := range jumbo.Links {
		jumbo.Links[i].MTU = 9000
	}
	unset := newFlow(t, nas(1e9, 10e9), "server", "", "10.0.0.101", flow.Spec{}) // four paths
	several := newFlow(t, nas(1e9, 10e9), "server", "", "10.0.0.101",
		flow.Spec{Tool: flow.Tool{Client: []string{"bench"}, Port: 22}})

	for _, test := range []struct {
		name  string
		top   *topology.Topology
		flows []Flow
		want  float64
		why   string
	}{
		{"writes are held by the server's interfaces", nas(1e9, 2.5e9), writes, 4e9 * shaped,
			"4 × 1 Gbit/s × 1448/1514"},
		{"reads likewise", nas(1e9, 2.5e9), reads, 4e9 * shaped, "4 × 1 Gbit/s × 1448/1514"},
		{"clients too slow", nas(1e9, 1.5e9), writes, 3e9 * shaped, "2 × 1.5 Gbit/s × 1448/1514"},
		{"directions do not share", nas(1e9, 2.5e9), append(append([]Flow{}, writes...), reads...), 8e9 * shaped,
			"8 × 1 Gbit/s × 1448/1514"},
		{"caps", nas(1e9, 2.5e9), capped, 8e8, "8 × cap of 100 Mbit/s"},
		{"real Ethernet", real, writes, 4e9 * 1448 / 1538, "4 × 1 Gbit/s × 1448/1538"},
		{"254 flows to one port", many, aliases, 1e9 * shaped, "1 Gbit/s × 1448/1514"},
		{"one direction slower", slow, writes, 3.1e9 * shaped, ""},
		{"the other direction is not", slow, reads, 4e9 * shaped, ""},
		{"jumbo frames", jumbo, writes, 4e9 * 8948 / 9014, "4 × 1 Gbit/s × 8948/9014"},
		{"one connection takes one of four paths", nas(1e9, 10e9), []Flow{unset}, 1e9 * shaped, "1 Gbit/s × 1448/1514"},
		{"four connections may take all", nas(1e9, 10e9), []Flow{unset, unset, unset, unset}, 4e9 * shaped, ""},
		{"a program's connections may take all", nas(1e9, 10e9), []Flow{several}, 4e9 * shaped,
			"4 × 1 Gbit/s × 1448/1514"},
		{"a program's connections beside one", nas(1e9, 10e9), []Flow{several, unset}, 4e9 * shaped, ""},
		{"no rates", nas(0, 0), writes, 0, ""},
		{"only the clients have rates", nas(0, 2.5e9), writes, 5e9 * shaped, "2 × 2.5 Gbit/s × 1448/1514"},
		{"no flows", nas(1e9, 1e9), nil, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Network{Topology: test.top}.Aggregate(test.flows)
			if math.Abs(got.Bps-test.want) > 1 || (test.why != "" && spelled(got) != test.why) {
				t.Errorf("got %.0f (%s), want %.0f (%s)", got.Bps, spelled(got), test.want, test.why)
			}
		})
	}
}

// A real host's veth is shaped by a token bucket, not by an Ethernet.
func TestKinds(t *testing.T) {
	top := nas(1e9, 2.5e9)
	for i := range top.Hosts {
		top.Hosts[i].Via = []string{"ip", "netns", "exec", "x"}
	}
	writes, _ := everyFlow(t, top, flow.Spec{})
	if got := (Network{Topology: top}).Flow(writes[0]); math.Abs(got.Bps-941.482e6) > 1e3 {
		t.Errorf("real hosts: %.0f (%s), want 941.482e6", got.Bps, spelled(got))
	}
	kinds := map[topology.End]string{}
	for _, l := range top.Links {
		kinds[l.From] = "veth"
	}
	if got := (Network{top, kinds}).Flow(writes[0]); math.Abs(got.Bps-956.407e6) > 1e3 {
		t.Errorf("veth: %.0f (%s), want 956.407e6", got.Bps, spelled(got))
	}
}

// TestCrossedTwice: a link that a path crosses twice in one direction, between two routers that
// are each on one of its switches, carries the flow twice.
func TestCrossedTwice(t *testing.T) {
	at := func(text string) topology.Address {
		p := netip.MustParsePrefix(text)
		return topology.Address{First: p.Addr(), Last: p.Addr(), Bits: p.Bits()}
	}
	host := func(name string, routes []setting.Route, addresses ...topology.Address) topology.Host {
		return topology.Host{Name: name, Forward: len(addresses) > 1, Routes: routes, Interfaces: []topology.Interface{
			{Name: "eth0", Addresses: addresses}}}
	}
	top := &topology.Topology{
		Hosts: []topology.Host{
			host("a", []setting.Route{{To: "default", Via: "10.1.0.254"}}, at("10.1.0.1/24")),
			host("r1", []setting.Route{{To: "10.3.0.0/24", Via: "10.2.0.254"}}, at("10.1.0.254/24"), at("10.2.0.1/24")),
			host("r2", nil, at("10.2.0.254/24"), at("10.3.0.254/24")),
			host("b", nil, at("10.3.0.1/24")),
		},
		Switches: []topology.Switch{{Name: "s1"}, {Name: "s2"}},
	}
	for _, l := range []struct {
		host, port string
		to         topology.End
		rate       unit.BitRate
	}{{"a", "eth0", topology.End{Node: "s1", Interface: "a"}, 1e9},
		{"r2", "eth0", topology.End{Node: "s1", Interface: "r2"}, 1e9},
		{"r1", "eth0", topology.End{Node: "s2", Interface: "r1"}, 1e9},
		{"b", "eth0", topology.End{Node: "s2", Interface: "b"}, 1e9},
		{"s1", "trunk", topology.End{Node: "s2", Interface: "trunk"}, 1e8}} {
		top.Links = append(top.Links, topology.Link{From: topology.End{Node: l.host, Interface: l.port}, To: l.to,
			Impairment: topology.Impairment{Rate: l.rate}})
	}
	f, n := newFlow(t, top, "a", "", "10.3.0.1", flow.Spec{}), Network{Topology: top}
	for _, got := range []Limit{n.Flow(f), n.Aggregate([]Flow{f})} {
		if want := 1e8 / 2 * 1448 / 1514; math.Abs(got.Bps-want) > 1 || spelled(got) != "100 Mbit/s × 0.4782" {
			t.Errorf("%+v, want %.0f", got, want)
		}
	}
}

// Flows with different overheads share a link: no max-flow, a true programme.
func TestMixedFrames(t *testing.T) {
	top := nas(1e9, 10e9)
	big := newFlow(t, top, "client1", "", "10.0.0.15", flow.Spec{})
	small := newFlow(t, top, "client2", "", "10.0.0.15", flow.Spec{MSS: 500, RateCap: 100e6})
	// Alone, big frames win; the small flow's bytes would only cost more wire.
	got := Network{Topology: top}.Aggregate([]Flow{big, small})
	if want := 1e9 * 1448.0 / 1514; math.Abs(got.Bps-want) > 1 {
		t.Errorf("got %.0f, want %.0f", got.Bps, want)
	}
}

// The solver agrees with gonum's on every random programme that gonum's solves,
// and its shadow prices prove the optimum by themselves.
func TestMaximizeAgainstGonum(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	compared := 0
	for range 300 {
		m, n := 1+random.IntN(8), 1+random.IntN(8)
		a, b := make([][]float64, m), make([]float64, m)
		dense := mat.NewDense(m, n+m, nil)
		cost := make([]float64, n+m)
		for i := range m {
			a[i] = make([]float64, n)
			b[i] = float64(random.IntN(4)) // zeros and ties: degenerate on purpose
			for j := range n {
				if i == 0 || random.IntN(2) == 0 { // row 0 bounds every variable
					a[i][j] = []float64{1, 1514.0 / 1448}[random.IntN(2)]
				}
				dense.Set(i, j, a[i][j])
				cost[j] = -1
			}
			dense.Set(i, n+i, 1)
		}
		best, price, ok := maximize(a, b, n, 1000)
		if !ok {
			t.Fatalf("no solution of %v ≤ %v", a, b)
		}
		dual := 0.0
		for i := range m {
			dual += price[i] * b[i]
		}
		if math.Abs(dual-best) > 1e-6 {
			t.Fatalf("shadow prices give %g, the programme %g", dual, best)
		}
		p := programme{columns: n}
		for i := range m {
			r := row{terms: map[int]float64{}, most: b[i]}
			for j, v := range a[i] {
				if v != 0 {
					r.terms[j] = v
				}
			}
			p.rows = append(p.rows, r)
		}
		if got := p.solve(); slices.Max(b) > 0 && math.Abs(got.Bps-best) > 1e-6 {
			t.Fatalf("with what is alike taken together %g, all by itself %g", got.Bps, best)
		}
		want, _, err := lp.Simplex(cost, dense, b, 1e-10, nil)
		if err != nil {
			continue
		}
		compared++
		if math.Abs(best+want) > 1e-6 {
			t.Fatalf("got %g, gonum %g for %v ≤ %v", best, -want, a, b)
		}
	}
	if compared < 100 {
		t.Fatalf("gonum solved only %d of 300", compared)
	}
}

func TestMaximizeUnbounded(t *testing.T) {
	if _, _, ok := maximize([][]float64{{1, 0}}, []float64{1}, 2, 1000); ok {
		t.Error("a variable without a row was bounded")
	}
}

// TestTransactionsHaveNoLimit: a probe beside bulk flows takes no part in their
// limit, and has none itself.
func TestTransactionsHaveNoLimit(t *testing.T) {
	s, err := study.Parse("probe.yaml", []byte(`study: probe
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 1gbit, reverse: {rate: 1mbit}}]
workload:
  flows: [{from: a, to: b}, {from: b, to: a, protocol: rr}]
`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	n, flows := Network{Topology: &s.Topology}, plan.Treatments[0].Flows
	if got := n.Planned(flows); math.Abs(got.Bps-1e9*1448/1514) > 1 {
		t.Errorf("the limit is %+v, want that of the bulk flow alone", got)
	}
	if got := n.Planned(flows[1:]); got.Bps != 0 || got.None != record.NoLimitTransactions {
		t.Errorf("the probe alone has the limit %+v", got)
	}
	described, err := n.Flows(flows)
	if err != nil || n.Flow(described[1]).Bps != 0 || n.Flow(described[0]).Bps == 0 {
		t.Errorf("%+v, %v", described, err)
	}
}

// spelled is what a limit is made of, in a line.
func spelled(l Limit) string {
	if l.None != "" {
		return strings.TrimSuffix(l.None+": "+l.Of, ": ")
	}
	var terms []string
	for _, t := range l.Terms {
		text := unit.FormatRate(t.Bps)
		if t.Kind == record.LimitCap {
			text = "cap of " + text
		} else if t.Of != "" {
			text = t.Of + ": " + text
		}
		if t.WireBytes > 0 {
			text += fmt.Sprintf(" × %d/%d", t.PayloadBytes, t.WireBytes)
		}
		for _, factor := range []float64{t.Price, t.Times} {
			if factor > 0 {
				text += fmt.Sprintf(" × %.4g", factor)
			}
		}
		if t.N > 0 {
			text = fmt.Sprintf("%d × ", t.N) + text
		}
		terms = append(terms, text)
	}
	return strings.Join(terms, " + ")
}
