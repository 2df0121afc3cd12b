package record

// Chance is what chance alone can make of a trial's goodput, where theory knows: the same
// flows carry from LeastBps to MostBps, by the equal-cost paths or the interfaces that a
// hash of drawn ports or a race of ARP replies gives them in a trial. What has a chance below
// 1e-3 in a trial is outside; what was measured is not. A trial without one has nothing of
// that kind left to chance, as far as theory knows.
type Chance struct {
	LeastBps float64 `json:"least_bps"`
	MostBps  float64 `json:"most_bps"`
	// By names what is left to chance: "8 flows over 2 equal-cost paths", "8 flows over 4
	// interfaces of server by ARP".
	By string `json:"by"`
	// Came is what came of it in a treatment's trials: "1 link in 2 of 4 trials, by chance".
	Came string `json:"came,omitempty"`
}

// Sensitivity is how small a difference a run, or a plan of one, can show: with the
// probability Power, a comparison whose truth is a change by Detectable (0.03: 3 %) gets
// a verdict of its direction, when trials scatter around their mean by Scatter (0.01: 1 %,
// one standard deviation), in so many Blocks and Comparisons. Of a run, both are those of
// the comparison whose trials scatter most, so that every comparison can show as much.
type Sensitivity struct {
	Detectable  float64 `json:"detectable"`
	Power       float64 `json:"power"`
	Scatter     float64 `json:"scatter"`
	Blocks      int     `json:"blocks"`
	Comparisons int     `json:"comparisons"`
	// ByMargin is the margin where it decides Detectable: more blocks do not make that smaller.
	// 0: the number of blocks does.
	ByMargin float64 `json:"by_margin,omitempty"`
	// Least is of the comparison whose trials scatter least; nil: of a plan.
	Least *Smallest `json:"least,omitempty"`
	// LeftToChance is how many of the comparisons are not counted in, because hashing or ARP
	// leaves to chance what comes of a side: chance makes their intervals wider than scatter
	// does.
	LeftToChance int `json:"left_to_chance,omitempty"`
}

// Smallest is a Sensitivity's change and scatter in another comparison.
type Smallest struct {
	Detectable float64 `json:"detectable"`
	Scatter    float64 `json:"scatter"`
}

// HalfWidth is Half or, in a document without it, the distance of the farther end. 0: the
// interval is unknown, or has no width.
func (e ResponseEstimate) HalfWidth() float64 { return halfWidth(e.Half, e.Mean, e.Low, e.High) }

// HalfWidth is Half or, in a document without it, the distance of the farther end. 0: the
// interval is unknown, or has no width.
func (s EffectSize) HalfWidth() float64 { return halfWidth(s.Half, s.Mean, s.Low, s.High) }

// halfWidth takes the farther end, since the other one may have been moved inwards, as
// to 0.
func halfWidth(half, mean, low, high float64) float64 {
	if half > 0 || !(high > low) {
		return half
	}
	return max(mean-low, high-mean)
}

// Outlier is a trial whose value in a response stands apart from its treatment's other
// trials. It counts like every other one; Saw says what its hosts' counters have that the
// other trials' have not, empty where nothing differs.
type Outlier struct {
	Response  string   `json:"response"`
	Treatment string   `json:"treatment"`
	Block     int      `json:"block"`
	Order     int      `json:"order"`
	Value     float64  `json:"value"`  // in the response's unit
	Others    float64  `json:"others"` // the median of the treatment's other trials
	Saw       []string `json:"saw,omitempty"`
}

// Outlier is a trial's, in a response; nil: it does not stand apart.
func (r *Run) Outlier(response string, order int) *Outlier {
	for i := range r.Outliers {
		if o := &r.Outliers[i]; o.Response == response && o.Order == order {
			return o
		}
	}
	return nil
}
