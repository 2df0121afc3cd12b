package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/suspects"
	"linerate/internal/science/suspects/meshtest"
)

// meshRow is a mesh that is simulated: with triage of so many rounds, or so many passes of shifts.
type meshRow struct {
	name           string
	mesh           meshtest.Mesh
	triage, passes int
	// least is the share of meshes in which each fault has to be named; 0: what is found is only shown.
	least float64
	heavy int // only one of so many meshes is made; 0: all
	short bool
}

// meshTally counts meshes, those in which a fault was named and those in which something else was,
// by the planned rounds and with the added ones, which are counted, too.
type meshTally struct{ meshes, faults, early, found, other, rounds int }

func (r meshRow) simulate(meshes int) (t meshTally) {
	for i := range meshes {
		random := rand.New(rand.NewPCG(uint64(i), hash(r.name)))
		hosts := r.mesh.Draw(random)
		plan := r.mesh.Shifts(r.passes)
		if r.triage > 0 {
			plan = r.mesh.Triage(random, r.triage)
		}
		in := r.mesh.Measure(random, hosts, plan)
		first := suspects.Conclude(in)
		last := first
		again := meshtest.Pack(suspects.Again(in, first))
		if len(again) > 0 {
			last = suspects.Confirm(in, r.mesh.Measure(random, hosts, again), first)
		}
		t.meshes++
		t.rounds += len(again)
		t.faults += len(r.mesh.Faults)
		t.early += r.named(first.Suspects)
		named := r.named(last.Suspects)
		t.found += named
		if len(last.Suspects) > named {
			t.other++
		}
	}
	return t
}

// named is how many faults are among suspects.
func (r meshRow) named(suspects []record.MeshSuspect) (n int) {
	for _, f := range r.mesh.Faults {
		for _, s := range suspects {
			if s.Kind == f.Kind && s.Host == f.Host && s.From == f.From && s.To == f.To {
				n++
			}
		}
	}
	return n
}

func hash(name string) (h uint64) {
	for _, c := range name {
		h = h*1099511628211 + uint64(c)
	}
	return h
}

// falseMeshes is the share of meshes that may name what is no fault.
const falseMeshes = suspects.Level

// wrong says what is further from what is required than chance explains: three standard errors.
func (r meshRow) wrong(t meshTally) (list []string) {
	off := func(p float64, n int) float64 { return 3 * math.Sqrt(p*(1-p)/float64(max(n, 1))) }
	if share := float64(t.other) / float64(t.meshes); share > falseMeshes+off(falseMeshes, t.meshes) {
		list = append(list, fmt.Sprintf("%s: %d of %d meshes name what is no fault", r.name, t.other, t.meshes))
	}
	if r.least > 0 && float64(t.found)/float64(t.faults) < r.least-off(r.least, t.faults) {
		list = append(list, fmt.Sprintf("%s: %d of %d faults are named", r.name, t.found, t.faults))
	}
	return list
}

func meshTable(rows []meshRow, meshes int, wrong func(format string, args ...any)) string {
	var b strings.Builder
	b.WriteString("| mesh | meshes | faults named by the planned rounds | … in the end | " +
		"meshes that name something else | added rounds |\n" +
		"|---|---|---|---|---|---|\n")
	for _, r := range rows {
		t := r.simulate(max(1, meshes/max(1, r.heavy)))
		for _, w := range r.wrong(t) {
			wrong("%s", w)
		}
		share := func(n, of int) string {
			if of == 0 {
				return "–"
			}
			return fmt.Sprintf("%.1f", 100*float64(n)/float64(of))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %.0f |\n", r.name, t.meshes, share(t.early, t.faults),
			share(t.found, t.faults), share(t.other, t.meshes), float64(t.rounds)/float64(t.meshes))
	}
	return b.String()
}

// TestMeshes simulates a few meshes of the short rows; with -update it simulates all, and writes the
// table of the page.
func TestMeshes(t *testing.T) {
	if !*update {
		_, old, _ := section(t, "meshes")
		for _, r := range meshRows {
			if !strings.Contains(old, "| "+r.name+" |") {
				t.Errorf("%s has no row %q: make audit", page, r.name)
			}
		}
		var few []meshRow
		for _, r := range meshRows {
			if r.short {
				few = append(few, r)
			}
		}
		meshTable(few, 12, t.Errorf)
		return
	}
	text := meshTable(meshRows, *runs, t.Errorf)
	before, _, after := section(t, "meshes")
	if err := os.WriteFile(page, []byte(before+text+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
