package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/flow"
)

// combined has two compared factors, a condition, and a factor of one level.
const combined = pair + `
factors:
  load:
    role: condition
    levels:
      light: {}
      heavy: {workload: {streams: 2, duration: 3s}}
  tso:
    baseline: "off"
    levels:
      "on": {settings: [{host: a, sysctl: {net.ipv4.tcp_timestamps: 0}}]}
      "off": {}
  cc:
    levels:
      cubic: {}
      reno: {workload: {congestion_control: reno, direction: both}, unreachable: true}
      "off": {workload: {age_neighbours: [b]}}
  ground:
    levels:
      always: {settings: [{host: b, sysctl: {net.ipv4.tcp_sack: 1, net.ipv4.tcp_ecn: 0}}]}
`

func TestTreatments(t *testing.T) {
	p := plan(t, parse(t, combined))
	var got []string
	for _, tr := range p.Treatments {
		baseline := ""
		if tr.Baseline {
			baseline = " baseline"
		}
		got = append(got, fmt.Sprintf("%s: %d flows, %d settings, %v%s", tr.Name, len(tr.Flows), len(tr.Settings),
			p.TrialTime(&tr), baseline))
	}
	want := []string{
		"on, cubic, light: 1 flows, 2 settings, 2.8s",
		"on, reno, light: 2 flows, 2 settings, 2.8s",
		"on, cc off, light: 1 flows, 2 settings, 3.9s",
		"tso off, cubic, light: 1 flows, 1 settings, 2.8s baseline",
		"tso off, reno, light: 2 flows, 1 settings, 2.8s",
		"tso off, cc off, light: 1 flows, 1 settings, 3.9s",
		"on, cubic, heavy: 2 flows, 2 settings, 3.8s",
		"on, reno, heavy: 4 flows, 2 settings, 3.8s",
		"on, cc off, heavy: 2 flows, 2 settings, 4.9s",
		"tso off, cubic, heavy: 2 flows, 1 settings, 3.8s baseline",
		"tso off, reno, heavy: 4 flows, 1 settings, 3.8s",
		"tso off, cc off, heavy: 2 flows, 1 settings, 4.9s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	reno := p.Treatments[7]
	if !reno.Unreachable || reno.Workload.CongestionControl != "reno" || reno.Levels["ground"] != "always" {
		t.Errorf("treatment is %+v", reno)
	}
	ids := map[string]bool{}
	for i, f := range reno.Flows {
		ids[f.ID] = true
		if f.OpenerSends != (i%2 == 0) || f.CongestionControl != "reno" {
			t.Errorf("flow %d is %+v", i, f)
		}
	}
	if len(ids) != 4 {
		t.Errorf("flows are called %v", ids)
	}
	if p.BlockTime() != 44*time.Second || p.Time(3) != 3*p.BlockTime() {
		t.Errorf("a block takes %v", p.BlockTime())
	}
}

func TestOptionsInherit(t *testing.T) {
	text := strings.Replace(pair, "flows: [{from: a, to: b}]",
		"mss: 1000\n  window: 64KiB\n  flows: [{from: a, to: b, mss: 500, nodelay: true}]", 1) + `
factors:
  first: {levels: {x: {workload: {window: 1MiB, direction: read}}}}
  second: {levels: {y: {workload: {flows: [{from: a, to: b, direction: write, rate_cap: 1mbit}, {from: b, to: a, mss: 700}]}}}}
  third: {levels: {plain: {}, small: {workload: {mss: 300}}}}
`
	p := plan(t, parse(t, text))
	spell := func(o flow.Spec) string {
		return fmt.Sprintf("mss %d window %s cap %s %s", o.MSS, o.Window, o.RateCap, o.Direction)
	}
	// A level's options win over a flow's own, also those of flows that another
	// level brings.
	want := [][]string{
		{"mss 1000 window 1MiB cap 1mbit read", "mss 700 window 1MiB cap 0bit read"},
		{"mss 300 window 1MiB cap 1mbit read", "mss 300 window 1MiB cap 0bit read"},
	}
	for i, tr := range p.Treatments {
		for j, f := range tr.Flows {
			if got := spell(f.Spec); got != want[i][j] {
				t.Errorf("treatment %s, flow %d: %s, want %s", tr.Name, j, got, want[i][j])
			}
		}
	}
	if got := p.Study.Workload.Flows[0].MSS; got != 500 {
		t.Errorf("planning changed the study: mss is %d", got)
	}
}

func TestNamesWithoutFactors(t *testing.T) {
	if p := plan(t, parse(t, pair)); len(p.Treatments) != 1 || p.Treatments[0].Name != "pair" ||
		!p.Treatments[0].Baseline {
		t.Errorf("treatments are %+v", p.Treatments)
	}
	p := plan(t, parse(t, pair+"factors: {f: {levels: {only: {}}}}\n"))
	if len(p.Treatments) != 1 || p.Treatments[0].Name != "only" {
		t.Errorf("treatments are %+v", p.Treatments)
	}
}

func TestOrder(t *testing.T) {
	p := plan(t, parse(t, combined))
	seen := map[string]bool{}
	for block := 1; block <= 20; block++ {
		order := p.Order(block, 7)
		if !slices.Equal(order, p.Order(block, 7)) {
			t.Fatalf("block %d has two orders with one seed", block)
		}
		seen[fmt.Sprint(order)] = true
		sorted := slices.Sorted(slices.Values(order))
		for i, place := range sorted {
			if place != i || len(sorted) != len(p.Treatments) {
				t.Fatalf("block %d is not complete: %v", block, order)
			}
		}
	}
	if len(seen) != 20 {
		t.Errorf("20 blocks have %d orders", len(seen))
	}
	// Results name their seed: it must mean the same order for ever.
	if got, want := fmt.Sprint(p.Order(1, 7)), "[4 11 3 9 10 6 1 5 2 0 8 7]"; got != want {
		t.Errorf("block 1 with seed 7 is %s, want %s", got, want)
	}
	if slices.Equal(p.Order(1, 7), p.Order(1, 8)) {
		t.Error("seeds 7 and 8 give the same order")
	}
}

func TestOnly(t *testing.T) {
	p := plan(t, parse(t, combined))
	for _, test := range []struct {
		names []string
		want  int
	}{
		{[]string{"heavy"}, 6}, // a condition: what was asked for
		{[]string{"reno"}, 8},  // compared: and the baseline
		{[]string{"heavy", "reno", "cc.off"}, 6},
		{[]string{"tso.off", "light"}, 3},
		{[]string{"light", "heavy"}, 12},
	} {
		kept, err := p.Only(test.names)
		if err != nil || len(kept.Treatments) != test.want {
			t.Errorf("%v keeps %d treatments, %v; want %d", test.names, len(kept.Treatments), err, test.want)
		}
	}
	if _, err := p.Only([]string{"hevy"}); err == nil || !strings.Contains(err.Error(), `did you mean "heavy"?`) {
		t.Errorf("got %v", err)
	}
	// What a level is against comes along.
	dissected := strings.Replace(combined, "reno: ",
		"bbr: {against: reno, workload: {congestion_control: bbr}}\n      reno: ", 1)
	if d, err := plan(t, parse(t, dissected)).Only([]string{"bbr", "light"}); dissected == combined || err != nil ||
		len(d.Factors()[2].Levels) != 3 {
		t.Errorf("%v: %+v", err, d)
	}
	// So does what that is against.
	chained := strings.Replace(dissected, "bbr: {",
		"bbr2: {against: bbr, workload: {congestion_control: bbr2}}\n      bbr: {", 1)
	if d, err := plan(t, parse(t, chained)).Only([]string{"bbr2", "light"}); chained == dissected || err != nil ||
		len(d.Factors()[2].Levels) != 4 {
		t.Errorf("%v: %+v", err, d)
	}
	kept, _ := p.Only([]string{"reno", "light"})
	factors := kept.Factors()
	if len(factors) != 4 || len(factors[0].Levels) != 1 || len(factors[2].Levels) != 2 {
		t.Errorf("factors are %+v", factors)
	}
	if ground := factors[3].Levels[0]; ground.Settings != 2 ||
		ground.SettingLines[1] != "b: sysctl net.ipv4.tcp_ecn=0" {
		t.Errorf("the level of factor ground is %+v", ground)
	}
	if factors[1].Baseline != "off" || factors[0].Baseline != "" || factors[1].Role != roleCompare {
		t.Errorf("factors are %+v", factors)
	}
}

func TestPlanIsBounded(t *testing.T) {
	big := pair + "factors:\n"
	for i := range 3 {
		big += fmt.Sprintf("  f%d: {levels: {\"%c{1..30}\": {}}}\n", i, 'a'+i)
	}
	if _, err := Parse("big.yaml", []byte(big)); err == nil ||
		!strings.Contains(err.Error(), "more than 10000 combinations") {
		t.Errorf("got %v", err)
	}
	big = strings.Replace(big, "1..30", "1..5", -1) // 125 treatments
	if _, err := Parse("big.yaml", []byte(big), "workload.streams=20000"); err == nil ||
		!strings.Contains(err.Error(), "more than 500000 flows") {
		t.Errorf("got %v", err)
	}
}

// TestManyAddresses: the kernel's time for tens of thousands of addresses is not left
// out of the estimates.
func TestManyAddresses(t *testing.T) {
	s, err := Parse("many.yaml", []byte(`
study: many
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/8]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/8]}}}
  links: [{from: a, to: b, rate: 1gbit}]
workload: {duration: 1s, warmup: 1s, flows: [{from: a, to: b}]}
factors:
  aliases:
    levels:
      none: {}
      "254": {settings: [{host: b, address: {interface: eth0, address: 10.1.0.1/8, count: 254}}]}
      "60,000": {settings: [{host: b, address: {interface: eth0, address: 10.1.0.1/8, count: 60000}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, s)
	of := func(i int) time.Duration { return p.TrialTime(&p.Treatments[i]) }
	if none, some, many := of(0), of(1), of(2); some > none+100*time.Millisecond || many < none+30*time.Second {
		t.Errorf("%v without, %v with 254 and %v with 60,000", none, some, many)
	}
}

// TestLostHandshakes: many connections over a link that loses packets take longer to open, by
// about the second after which a SYN is repeated.
func TestLostHandshakes(t *testing.T) {
	of := func(loss, protocol string) time.Duration {
		s, err := Parse("lossy.yaml", []byte(`
study: lossy
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/8]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/8]}}}
  links: [{from: a, to: b, rate: 100mbit, loss: `+loss+`}]
workload: {duration: 1s, warmup: 1s, flows: [{from: a, to: b, `+protocol+`}]}
`))
		if err != nil {
			t.Fatal(err)
		}
		p := plan(t, s)
		return p.TrialTime(&p.Treatments[0])
	}
	const many, one = "protocol: rr, connections: 100", "protocol: tcp"
	without, lossy := of("0%", many), of("1%", many)
	// 87 % of 1 s, and 4 % of 2 s
	if more := lossy - without; more < 800*time.Millisecond || more > 1100*time.Millisecond {
		t.Errorf("100 connections with a loss of 1 %%: %v more", more)
	}
	if more := of("1%", one) - of("0%", one); more < 15*time.Millisecond || more > 30*time.Millisecond { // 2 % of 1 s
		t.Errorf("one connection with a loss of 1 %%: %v more", more)
	}
	if more := of("1%", "protocol: udp, rate_cap: 1mbit") - of("0%", "protocol: udp, rate_cap: 1mbit"); more != 0 {
		t.Errorf("UDP: %v more", more)
	}
}
