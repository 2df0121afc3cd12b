package ecmp

// Outcome is everything about one question: what so many flows carry over links
// that a hash chooses.
type Outcome struct {
	LimitBps float64 // what spreading evenly would carry, and no more than is asked for
	MeanBps  float64
	// Carried is how what is carried scatters from one set of ports to the
	// next; SDBps is its standard deviation.
	Carried Distribution
	SDBps   float64
	// SomeUnused is the chance that a link of the first tier carries nothing,
	// UsedFirst and UsedSecond are how many links do on average.
	SomeUnused, UsedFirst, UsedSecond float64
	// BusiestShare is the mean share of the flows that the first tier's link with
	// most of them has.
	BusiestShare float64
	// TogetherBps is the rate of transfers that begin together, until the last is
	// done; 0: not asked, or they ask for less than a link.
	TogetherBps float64
	// The exact ones of these; the others come from so many draws at least.
	MeanExact, CarriedExact, UnusedExact, BusiestExact, TogetherExact bool
	Replicates                                                        int
}

// Outcome finds what it can exactly and draws the rest from the seed. sizes may be
// nil: transfers are equal. replicates 0: as many draws as are quick.
func (t Tiers) Outcome(kinds []Kind, sizes *Sizes, replicates int, seed uint64) Outcome {
	bundles, _ := Total(kinds)
	o := Outcome{LimitBps: min(t.LimitBps(), DemandBps(kinds))}
	o.UsedFirst, o.UsedSecond = t.ExpectedUsed(bundles)
	o.MeanBps, o.MeanExact = t.ExpectedBps(kinds)
	o.SomeUnused, o.UnusedExact = t.First.SomeUnused(bundles)
	o.BusiestShare, o.BusiestExact = t.First.BusiestShare(kinds)
	if len(t.Second) == 0 {
		o.Carried, o.CarriedExact = t.First.Carried(kinds)
		if sizes == nil {
			o.TogetherBps, o.TogetherExact = t.First.TogetherBps(kinds)
		}
	}
	if !o.MeanExact || !o.UnusedExact || !o.BusiestExact || !o.CarriedExact {
		o.draw(t, kinds, nil, replicates, seed)
	}
	if allElastic(kinds) && !o.TogetherExact {
		if sizes == nil {
			sizes = &Sizes{}
		}
		o.draw(t, kinds, sizes, replicates, seed)
	}
	o.SDBps = o.Carried.SD()
	return o
}

func (o *Outcome) draw(t Tiers, kinds []Kind, sizes *Sizes, replicates int, seed uint64) {
	if replicates == 0 {
		replicates = t.Replicates(kinds, sizes)
	}
	d := t.Draw(kinds, sizes, replicates, seed)
	if o.Replicates == 0 || replicates < o.Replicates {
		o.Replicates = replicates // the fewer, where two kinds of draws are made
	}
	o.TogetherBps = max(o.TogetherBps, d.TogetherBps)
	if !o.MeanExact {
		o.MeanBps = d.MeanBps
	}
	if !o.UnusedExact {
		o.SomeUnused = d.SomeUnused
	}
	if !o.BusiestExact {
		o.BusiestShare = d.Busiest
	}
	if !o.CarriedExact {
		o.Carried = d.Distribution()
	}
}
