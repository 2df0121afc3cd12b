package kernel

// CableEnd is one end of a cable.
type CableEnd struct {
	In   *Namespace
	Port string
	MAC  string
	MTU  int // bytes
}

// Shaping is what a port does to the frames it sends.
type Shaping struct {
	RateBps    float64 // bit/s; 0: not shaped
	BurstBytes int64
	QueueBytes int64
	DelayUs    int64
	Loss       float64 // 0…1
	MTU        int     // bytes
}
