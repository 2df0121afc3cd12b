package record

// Hashing compares how a hash placed the flows of one treatment on equal-cost links with what
// theory predicts. Values in links are goodput divided by what one link can carry.
type Hashing struct {
	Treatment string `json:"treatment"`
	// Host is the host whose route has several next hops: Links of them, each of which can carry
	// LinkBps.
	Host    string  `json:"host"`
	Links   int     `json:"links"`
	LinkBps float64 `json:"link_bps"`
	Flows   int     `json:"flows"`
	// Placements is the number of distinct hash values of the flows. Chosen reports whether source
	// ports were chosen so that the flows spread evenly. ByChance reports whether they were not
	// chosen and there are several hash values, which differ in every trial.
	Placements int  `json:"placements"`
	Chosen     bool `json:"chosen,omitempty"`
	ByChance   bool `json:"by_chance"`
	Replicates int  `json:"replicates"`
	// The mean that theory predicts, and the interval in which the mean of Replicates trials lies
	// with the confidence of the run.
	ExpectedLinks     float64 `json:"expected_links"`
	ExpectedLowLinks  float64 `json:"expected_low_links"`
	ExpectedHighLinks float64 `json:"expected_high_links"`
	// The measured mean with its interval (both ends are 0 for a single replicate), and the lowest
	// and highest value of a replicate. Inside reports whether the mean is within the predicted
	// interval, widened by the margin of the run.
	MeasuredLinks      float64 `json:"measured_links"`
	MeasuredLowLinks   float64 `json:"measured_low_links"`
	MeasuredHighLinks  float64 `json:"measured_high_links"`
	MeasuredLeastLinks float64 `json:"measured_least_links"`
	MeasuredMostLinks  float64 `json:"measured_most_links"`
	Inside             bool    `json:"inside"`
	// IdleChance is the probability that some link is idle in a trial. A link was idle in
	// IdleTrials trials; the binomial interval predicts IdleLowTrials to IdleHighTrials.
	// IdleLowShare to IdleHighShare is the interval of that probability, estimated from these
	// trials alone.
	IdleChance     float64 `json:"idle_link_chance"`
	IdleTrials     int     `json:"idle_link_trials"`
	IdleLowTrials  int     `json:"idle_link_low_trials"`
	IdleHighTrials int     `json:"idle_link_high_trials"`
	IdleAsExpected bool    `json:"idle_link_as_expected"`
	IdleLowShare   float64 `json:"idle_link_low_share"`
	IdleHighShare  float64 `json:"idle_link_high_share"`
	// FullTrials counts the trials in which the predicted paths use every link. FullLeastLinks is
	// the least that one of them carried. LeastOfPredicted is the lowest share of the predicted
	// links that a trial filled.
	FullTrials       int     `json:"full_placement_trials"`
	FullLeastLinks   float64 `json:"full_placement_least_links,omitempty"`
	LeastOfPredicted float64 `json:"least_of_predicted,omitempty"`
	// PerLink is the traffic of each link over all replicates.
	PerLink []HashedLink `json:"per_link"`
}

// EachPlaced reports whether the hash placed each flow independently. Such treatments are the
// points of a curve over the number of flows; with one flow nothing is left to chance.
func (h Hashing) EachPlaced() bool { return !h.Chosen && h.Placements == h.Flows }

// HashedLink is the share of the flows and goodput that one of several equal-cost links carried.
type HashedLink struct {
	Interface string  `json:"interface"` // the host.interface that sends to it
	Flows     int     `json:"flows"`
	Share     float64 `json:"share"` // of the goodput
}
