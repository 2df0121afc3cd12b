package ecmp

import "math"

// Replicate runs n simulations, from seed on, and returns the mean of what came
// out and the standard deviation of what one carries. Steps are of all.
func (s *Simulation) Replicate(seed uint64, n int) (mean FabricOutcome, sdBps float64) {
	var carried []float64
	for i := range n {
		o := s.Run(seed + uint64(i))
		carried = append(carried, o.Hashed.CarriedBps)
		mean.add(o, 1/float64(n))
	}
	for _, bps := range carried {
		sdBps += (bps - mean.Hashed.CarriedBps) * (bps - mean.Hashed.CarriedBps)
	}
	return mean, math.Sqrt(sdBps / float64(max(1, n-1)))
}

func (o *FabricOutcome) add(other FabricOutcome, part float64) {
	o.Hashed.add(other.Hashed, part)
	o.Even.add(other.Even, part)
	o.Steps += other.Steps
	for i, tier := range other.Tiers {
		if i == len(o.Tiers) {
			o.Tiers = append(o.Tiers, Tier{Name: tier.Name, Links: tier.Links})
		}
		sum := &o.Tiers[i]
		sum.Idle += part * tier.Idle
		sum.Full += part * tier.Full
		sum.Busiest += part * tier.Busiest
		sum.Average += part * tier.Average
	}
}

func (r *Rates) add(other Rates, part float64) {
	r.CarriedBps += part * other.CarriedBps
	r.LeastBps += part * other.LeastBps
	r.P1Bps += part * other.P1Bps
	r.P50Bps += part * other.P50Bps
	r.P99Bps += part * other.P99Bps
	r.MostBps += part * other.MostBps
	r.Fairness += part * other.Fairness
}
