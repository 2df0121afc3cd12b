package record

// Hashing is one treatment whose flows a hash placed on equal-cost links, from one
// host to another, beside what chance leads to expect. What is in links is goodput
// over what one link can carry.
type Hashing struct {
	Treatment string `json:"treatment"`
	// Host is the one whose route has several next hops: Links, each of which can carry LinkBps.
	Host    string  `json:"host"`
	Links   int     `json:"links"`
	LinkBps float64 `json:"link_bps"`
	Flows   int     `json:"flows"`
	// Placements is how many different hashes the flows have. Chosen: ports were
	// chosen for the flows to spread evenly. ByChance: they were not, and there are
	// several hashes, which are others in every trial.
	Placements int  `json:"placements"`
	Chosen     bool `json:"chosen,omitempty"`
	ByChance   bool `json:"by_chance"`
	Replicates int  `json:"replicates"`
	// The theory's mean, and between which values the mean of that many replicates
	// lies with the run's confidence.
	ExpectedLinks     float64 `json:"expected_links"`
	ExpectedLowLinks  float64 `json:"expected_low_links"`
	ExpectedHighLinks float64 `json:"expected_high_links"`
	// The measured mean with its own interval (both 0: of one replicate there is
	// none), and the least and the most of any replicate. Inside: the mean lies within
	// the theory's bounds, give or take the run's margin.
	MeasuredLinks      float64 `json:"measured_links"`
	MeasuredLowLinks   float64 `json:"measured_low_links"`
	MeasuredHighLinks  float64 `json:"measured_high_links"`
	MeasuredLeastLinks float64 `json:"measured_least_links"`
	MeasuredMostLinks  float64 `json:"measured_most_links"`
	Inside             bool    `json:"inside"`
	// IdleChance is that of some link being left idle. It was in IdleTrials, where
	// the binomial interval has from IdleLowTrials to IdleHighTrials. From
	// IdleLowShare to IdleHighShare is the chance's interval from these trials alone.
	IdleChance     float64 `json:"idle_link_chance"`
	IdleTrials     int     `json:"idle_link_trials"`
	IdleLowTrials  int     `json:"idle_link_low_trials"`
	IdleHighTrials int     `json:"idle_link_high_trials"`
	IdleAsExpected bool    `json:"idle_link_as_expected"`
	IdleLowShare   float64 `json:"idle_link_low_share"`
	IdleHighShare  float64 `json:"idle_link_high_share"`
	// In FullTrials the kernels had named as many links as there are to be used, and
	// the least that one of these carried is FullLeastLinks. LeastOfPredicted is the
	// least part of the links named beforehand that any trial filled.
	FullTrials       int     `json:"full_placement_trials"`
	FullLeastLinks   float64 `json:"full_placement_least_links,omitempty"`
	LeastOfPredicted float64 `json:"least_of_predicted,omitempty"`
	// PerLink is what fell on each link, all replicates together.
	PerLink []HashedLink `json:"per_link"`
}

// EachPlaced reports whether a hash placed each flow by itself: such treatments are a
// curve's points, of which that of one flow leaves nothing to chance.
func (h Hashing) EachPlaced() bool { return !h.Chosen && h.Placements == h.Flows }

// HashedLink is what fell on one of several links.
type HashedLink struct {
	Interface string  `json:"interface"` // host.interface that leads to it
	Flows     int     `json:"flows"`
	Share     float64 `json:"share"` // of the goodput
}
