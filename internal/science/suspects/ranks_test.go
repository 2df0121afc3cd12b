package suspects

import (
	"math"
	"testing"
)

// TestHypergeometric compares with the counts of all draws.
func TestHypergeometric(t *testing.T) {
	for all := 2; all <= 12; all++ {
		for own := 1; own < all; own++ {
			for slow := 0; slow <= all; slow++ {
				ways, more := 0, make([]int, own+2)
				for set := range 1 << all {
					in, hit := 0, 0
					for i := range all {
						if set>>i&1 == 1 {
							if in++; i < slow {
								hit++
							}
						}
					}
					if in != own {
						continue
					}
					ways++
					for k := range hit + 1 {
						more[k]++
					}
				}
				for k := range own + 1 {
					if want := float64(more[k]) / float64(ways); more[k] > 0 &&
						math.Abs(math.Exp(hypergeometric(all, own, slow, k))-want) > 1e-9 {
						t.Fatalf("%d of %d, %d slow, at least %d: %g, want %g", own, all, slow, k,
							math.Exp(hypergeometric(all, own, slow, k)), want)
					}
				}
			}
		}
	}
}

// TestSlower: a group that is the slowest has the probability of that draw, which values beyond the
// margin alone decide.
func TestSlower(t *testing.T) {
	var cells []cell
	for i := range 20 {
		cells = append(cells, cell{y: float64(i) / 1e4})
	}
	group := []int32{3, 11, 17}
	if p := newRanks(cells).slower(cells, group, 0.05); p < math.Log(0.5) {
		t.Errorf("alike: p = %g", math.Exp(p))
	}
	for _, i := range group {
		cells[i].y -= 0.04
	}
	if p := newRanks(cells).slower(cells, group, 0.05); p < math.Log(0.5) {
		t.Errorf("within the margin: p = %g", math.Exp(p))
	}
	for _, i := range group {
		cells[i].y -= 0.02
	}
	r := newRanks(cells)
	if p := math.Exp(r.slower(cells, group, 0.05)); math.Abs(p-1./1140) > 1e-9 { // 3 of 20
		t.Errorf("beyond the margin: p = %g, want 1 of 1140", p)
	}
	if d, low, high := r.ratio(cells, group); math.Abs(d+0.06) > 0.002 || low > d || high < d {
		t.Errorf("ratio %g (%g to %g), want -0.06", d, low, high)
	}
}
