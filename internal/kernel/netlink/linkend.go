package netlink

// LinkEnd is one end of a cable.
type LinkEnd struct {
	Namespace *Namespace
	Interface string
	MAC       string
	MTU       int // bytes
}

// Shaping is what an interface does to the frames it sends.
type Shaping struct {
	RateBps    float64 // bit/s; 0: not shaped
	BurstBytes int64
	QueueBytes int64
	DelayUs    int64
	JitterUs   int64   // to either side of the delay
	Loss       float64 // 0…1
	Reorder    float64 // 0…1, not delayed
	MTU        int     // bytes
}

// Alters says whether frames come later than they were sent, or not all of them.
func (s Shaping) Alters() bool { return s.DelayUs > 0 || s.Loss > 0 }
