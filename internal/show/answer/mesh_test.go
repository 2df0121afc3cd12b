package answer

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	plan "linerate/internal/model/mesh"
	"linerate/internal/model/record"
)

// meshes are conclusions of every kind that is answered differently.
func meshes() (names []string, list []*record.Mesh) {
	add := func(name string, c record.MeshConclusion, change ...func(*record.Mesh)) {
		m := &record.Mesh{Plan: plan.Plan{Pattern: plan.Triage}, Metric: "goodput", Conclusion: &c}
		for _, f := range change {
			f(m)
		}
		names, list = append(names, name), append(list, m)
	}
	latency := func(m *record.Mesh) { m.Metric = "latency_p50" }
	base := record.MeshConclusion{Pairs: 4750, Wanted: 4750, Hosts: 500, TypicalHosts: 500, Typical: 9.41e9,
		TypicalLimit: 9.42e9}
	with := func(change func(*record.MeshConclusion)) record.MeshConclusion {
		c := base
		change(&c)
		return c
	}
	suspect := func(kind, host, from, to string, value float64) record.MeshSuspect {
		return record.MeshSuspect{Kind: kind, Host: host, From: from, To: to, Value: value, Ratio: value / 9.41e9,
			Confirmed: true, Again: &record.MeshAgain{}}
	}
	receives := suspect(record.MeshReceives, "h117", "", "", 4.7e9)
	add("no fault", base)
	add("few hosts reach it", with(func(c *record.MeshConclusion) { c.TypicalHosts = 480 }))
	add("a receiver", with(func(c *record.MeshConclusion) {
		c.TypicalHosts, c.Suspects = 499,
			[]record.MeshSuspect{receives}
	}))
	add("a host that is slower in one direction", with(func(c *record.MeshConclusion) {
		c.TypicalHosts, c.Suspects = 499, []record.MeshSuspect{suspect(record.MeshHost, "h117", "", "", 4.7e9)}
		c.Effects = []record.MeshEffect{{Host: "h117", Sends: 0.8, Receives: 0.25}}
	}))
	caused, limited := receives, receives
	caused.Findings = []record.Finding{{ID: cause.Code("speed-below-best"), Host: "h117"}}
	limited.Limit = 4.71e9
	add("with a cause", with(func(c *record.MeshConclusion) {
		c.TypicalHosts, c.Suspects = 499,
			[]record.MeshSuspect{caused}
	}))
	add("with a limit", with(func(c *record.MeshConclusion) {
		c.TypicalHosts, c.Suspects = 499,
			[]record.MeshSuspect{limited}
	}))
	add("of every kind", with(func(c *record.MeshConclusion) {
		c.TypicalHosts = 470
		c.Suspects = []record.MeshSuspect{suspect(record.MeshHost, "h9", "", "", 0),
			suspect(record.MeshUplink, "", "r2", "", 5e9), suspect(record.MeshUplink, "", "", "r3", 5.1e9),
			suspect(record.MeshRacks, "", "r4", "r5", 6e9), suspect(record.MeshPair, "", "h1", "h2", 7e9),
			suspect(record.MeshSends, "h10", "", "", 8e9)}
		c.Suspects[3].Confirmed = false
		c.Candidates = []record.MeshSuspect{suspect(record.MeshSends, "h20", "", "", 8.9e9)}
	}))
	add("two hosts", record.MeshConclusion{Pairs: 2, Wanted: 2, Hosts: 2, Typical: 9.41e9,
		Untold: record.MeshFewHostsUntold})
	add("three hosts", record.MeshConclusion{Pairs: 6, Wanted: 6, Hosts: 3, TypicalHosts: 2, Typical: 9.41e9,
		Untold: record.MeshFewPairsUntold, NeedRounds: 7})
	add("unlike", with(func(c *record.MeshConclusion) { c.TypicalHosts, c.Untold = 210, record.MeshUnlikeUntold }))
	add("all are slow", with(func(c *record.MeshConclusion) {
		c.Typical = 4e9
		c.Chance = &record.MeshChance{Shares: []float64{0.5, 1. / 3}, Pairs: 0.31}
	}))
	add("two rates", with(func(c *record.MeshConclusion) {
		c.Limits = []record.MeshLimit{{Limit: 9.42e9, Pairs: 4000, Typical: 9.41e9}, {Limit: 942e6, Pairs: 750,
			Typical: 940e6}}
	}))
	add("failed, not measured, lost", with(func(c *record.MeshConclusion) {
		c.Failed, c.Pairs = 2, 4700
		c.Worst = []record.MeshPairValue{{From: "h1", To: "h2", Failed: true}, {From: "h3", To: "h2", Failed: true}}
		c.Unmeasured = [][2]string{{"h5", "h6"}, {"h7", "h8"}}
	}), func(m *record.Mesh) {
		m.Lost = []record.MeshLost{{Host: "h5", Round: 3, Reason: "ended", Error: "the agent ended"}}
	})
	slow := receives
	slow.Value = 180
	add("latency", record.MeshConclusion{Pairs: 4000, Wanted: 4000, Hosts: 64, TypicalHosts: 63, Typical: 45,
		Suspects: []record.MeshSuspect{slow}}, latency)
	add("nothing", record.MeshConclusion{})
	add("all failed", record.MeshConclusion{Pairs: 6, Failed: 6, Wanted: 6, Hosts: 3})
	return names, list
}

// TestMesh compares with testdata/meshes.txt.
func TestMesh(t *testing.T) {
	var b strings.Builder
	names, list := meshes()
	for i, m := range list {
		a := Run(&record.Run{Mesh: m})
		fmt.Fprintf(&b, "%s\n  %s\n", names[i], a.Headline)
		for _, s := range append(a.Statements, a.Caveats...) {
			fmt.Fprintf(&b, "  · %s\n", s)
		}
	}
	const file = "testdata/meshes.txt"
	if *updateAnswers {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("go test -update-answers, and look at the difference:\n%s", b.String())
	}
}
