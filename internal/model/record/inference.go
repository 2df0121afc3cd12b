package record

// Chance is the range of goodput that chance alone can cause in a trial: the same flows carry
// LeastBps to MostBps, depending on the equal-cost paths that a hash of random ports selects or the
// interfaces that a race of ARP replies selects. Outcomes with a probability below 1e-3 are
// excluded, unless one was measured. A trial without a Chance has no such randomness, as far as is
// known.
type Chance struct {
	LeastBps float64 `json:"least_bps"`
	MostBps  float64 `json:"most_bps"`
	// By names the source of randomness: "8 flows over 2 equal-cost paths", "8 flows over 4
	// interfaces of server by ARP".
	By string `json:"by"`
	// Came describes the outcomes in the trials of a treatment: "1 link in 2 of 4 trials, by chance".
	Came string `json:"came,omitempty"`
}

// Sensitivity is the smallest difference that a run, or a planned run, can show. If trials scatter
// around their mean with the relative standard deviation Scatter (0.01: 1 %), and the true change
// is Detectable (0.03: 3 %), a comparison gets a verdict with the right direction with probability
// Power, given Blocks and Comparisons. For a run, Detectable and Scatter are those of the
// comparison whose trials scatter most.
type Sensitivity struct {
	Detectable  float64 `json:"detectable"`
	Power       float64 `json:"power"`
	Scatter     float64 `json:"scatter"`
	Blocks      int     `json:"blocks"`
	Comparisons int     `json:"comparisons"`
	// ByMargin is the margin if it determines Detectable; more blocks do not help then. 0: the
	// number of blocks determines it.
	ByMargin float64 `json:"by_margin,omitempty"`
	// Least is for the comparison whose trials scatter least. Nil in a plan.
	Least *Smallest `json:"least,omitempty"`
	// LeftToChance counts comparisons that are excluded because hashing or ARP makes the outcome of
	// one side random. Their intervals are wider than scatter alone would make them.
	LeftToChance int `json:"left_to_chance,omitempty"`
}

// Smallest is the smallest change that one comparison can show, with the relative standard
// deviation of its trials, as in Sensitivity.
type Smallest struct {
	Detectable float64 `json:"detectable"`
	Scatter    float64 `json:"scatter"`
}

// HalfWidth returns Half or, in a document without it, the distance from Mean to the farther end of
// the interval. 0: the interval is unknown or has no width.
func (e ResponseEstimate) HalfWidth() float64 { return halfWidth(e.Half, e.Mean, e.Low, e.High) }

// HalfWidth returns Half or, in a document without it, the distance from Mean to the farther end of
// the interval. 0: the interval is unknown or has no width.
func (s EffectSize) HalfWidth() float64 { return halfWidth(s.Half, s.Mean, s.Low, s.High) }

// halfWidth uses the farther end, since the nearer one may have been clamped, for example to 0.
func halfWidth(half, mean, low, high float64) float64 {
	if half > 0 || !(high > low) {
		return half
	}
	return max(mean-low, high-mean)
}

// Outlier is a trial whose value in a response is far from the values of the other trials of its
// treatment. Estimates include it. Saw lists what only the records of this trial show, such as
// counters of its hosts; empty: nothing.
type Outlier struct {
	Response  string   `json:"response"`
	Treatment string   `json:"treatment"`
	Block     int      `json:"block"`
	Order     int      `json:"order"`
	Value     float64  `json:"value"`  // in the response's unit
	Others    float64  `json:"others"` // the median of the treatment's other trials
	Saw       []string `json:"saw,omitempty"`
}

// Outlier returns the outlier in a response that is the trial with the given Order. Nil: that trial
// is no outlier.
func (r *Run) Outlier(response string, order int) *Outlier {
	for i := range r.Outliers {
		if o := &r.Outliers[i]; o.Response == response && o.Order == order {
			return o
		}
	}
	return nil
}
