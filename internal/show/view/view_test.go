package view

import (
	"fmt"
	"maps"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/showtest"
)

func TestGrid(t *testing.T) {
	v := New(showtest.ArpFlux())
	if len(v.Rows) != 7 || len(v.Columns) != 2 || v.Columns[0].Name != "writes" {
		t.Fatalf("%d rows, columns %+v", len(v.Rows), v.Columns)
	}
	if v.Baseline == nil || v.Baseline.Name != "kernel defaults" {
		t.Errorf("baseline %+v", v.Baseline)
	}
	// The same with rp_filter=1 carries as much with one setting more.
	if v.Best == nil || v.Best.Name != "arp + source routing" {
		t.Errorf("best %+v", v.Best)
	}
	for _, r := range v.Rows {
		for c, cell := range r.Treatments {
			if cell.Levels["fix"] != r.Name || cell.Levels["direction"] != v.Columns[c].Name {
				t.Errorf("row %s, column %s holds %s", r.Name, v.Columns[c].Name, cell.Name)
			}
			if (cell.Effect == nil) != r.Baseline {
				t.Errorf("row %s, column %s: effect %v", r.Name, v.Columns[c].Name, cell.Effect)
			} else if !r.Baseline && (cell.Effect.To != r.Name || cell.Effect.At["direction"] != v.Columns[c].Name) {
				t.Errorf("row %s, column %s has the effect of %s at %v", r.Name, v.Columns[c].Name, cell.Effect.To,
					cell.Effect.At)
			}
		}
	}
	if v.Focus != "server" {
		t.Errorf("the interfaces of %q are shown", v.Focus)
	}
}

func TestNothingIsLostFromTheGrid(t *testing.T) {
	run := showtest.ArpFlux()
	run.Treatments = append(run.Treatments, record.Treatment{Name: "left over"})
	run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: "not tried"})
	v := New(run)
	n := 0
	for _, r := range v.Rows {
		for _, c := range r.Treatments {
			if c != nil {
				n++
			}
		}
	}
	if n != len(run.Treatments) || len(v.Columns) != 2 {
		t.Errorf("%d of %d treatments shown in %d columns", n, len(run.Treatments), len(v.Columns))
	}
}

// TestGridOfManyFactors: a design that tries factors one by one has a row for each treatment,
// and the grid lists no other combinations, of which there are 2 to the 24.
func TestGridOfManyFactors(t *testing.T) {
	run := &record.Run{Study: "many"}
	baseline := map[string]string{}
	for i := range 24 {
		name := fmt.Sprint("f", i)
		run.Factors = append(run.Factors, record.Factor{Name: name, Role: "compare", Baseline: "off",
			Levels: sciencetest.Named("off", "on")})
		baseline[name] = "off"
	}
	run.Treatments = []record.Treatment{{Name: "baseline", Baseline: true, Levels: baseline}}
	for _, f := range run.Factors {
		levels := maps.Clone(baseline)
		levels[f.Name] = "on"
		run.Treatments = append(run.Treatments, record.Treatment{Name: f.Name + " on", Levels: levels})
	}
	if got := len(combinations(run.Factors[:10], run.Treatments)); got != 11 {
		t.Fatalf("%d combinations of ten factors", got)
	}
	v := New(run)
	if len(v.Rows) != 25 || len(v.Columns) != 1 || v.Baseline != &v.Rows[0] || v.Rows[1].Name != "f23 on" {
		t.Errorf("%d rows in %d columns, baseline %+v, then %q", len(v.Rows), len(v.Columns), v.Baseline,
			v.Rows[1].Name)
	}
}

// TestConditionsAreRows: where nothing is compared, the table has a row for each condition,
// and none is called a baseline, also beside a factor with a single level.
func TestConditionsAreRows(t *testing.T) {
	for _, factors := range [][]record.Factor{
		{{Name: "rtt", Role: "condition", Levels: []record.Level{{Name: "1 ms"}, {Name: "10 ms"}, {Name: "50 ms"}}}},
		{{Name: "cc", Role: "compare", Baseline: "bbr", Levels: []record.Level{{Name: "bbr"}}},
			{Name: "rtt", Role: "condition", Levels: []record.Level{{Name: "1 ms"}, {Name: "10 ms"}, {Name: "50 ms"}}}},
	} {
		run := &record.Run{Study: "delays", Factors: factors}
		for _, level := range []string{"1 ms", "10 ms", "50 ms"} {
			levels := map[string]string{"rtt": level}
			if len(factors) > 1 {
				levels["cc"] = "bbr"
			}
			run.Treatments = append(run.Treatments, record.Treatment{Name: level, Baseline: true, Levels: levels})
		}
		v := New(run)
		if len(v.Rows) != 3 || len(v.Columns) != 1 || v.Baseline != nil {
			t.Fatalf("%d rows in %d columns, baseline %v", len(v.Rows), len(v.Columns), v.Baseline)
		}
		for i, want := range []string{"1 ms", "10 ms", "50 ms"} {
			if r := v.Rows[i]; r.Name != want || r.Treatments[0] != &run.Treatments[i] {
				t.Errorf("row %d is %q", i, r.Name)
			}
		}
	}
}

// The table names the one direction that it shows where data flows both ways.
func TestTrafficNamesTheDirection(t *testing.T) {
	run := sciencetest.Run(7, 1)
	conclude.Conclude(run)
	half := 0.5
	for i := range run.Treatments {
		for p := range run.Treatments[i].Interfaces {
			port := &run.Treatments[i].Interfaces[p]
			port.ShareRx, port.ShareTx, port.Direction = &half, &half, record.Tx
		}
	}
	if got := New(run).Traffic(); got != "what server sent" {
		t.Errorf("%q", got)
	}
}
