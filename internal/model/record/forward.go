package record

// Forward is the result of measuring what a device forwards between two interfaces of one host
// (linerate.forward/v1).
type Forward struct {
	Schema    string `json:"schema"`
	Interface string `json:"interface"` // transmits
	Receive   string `json:"receive"`
	// Router is the address of the next hop. Empty: frames are addressed to Receive itself, as
	// through a switch. ToMAC is the destination MAC address of the frames.
	Router string `json:"router,omitempty"`
	ToMAC  string `json:"to_mac"`
	From   string `json:"from"` // IP addresses of the frames
	To     string `json:"to"`
	Tuples int    `json:"tuples,omitempty"`
	// Mode is how frames were passed to the kernel. Refused is why no faster mode was used.
	Mode    string `json:"mode"`
	Refused string `json:"refused,omitempty"`
	// LinkBps is the lower speed of the two interfaces. 0: unknown, as for virtual interfaces.
	LinkBps float64        `json:"link_bps,omitempty"`
	Sizes   []ForwardSize  `json:"sizes"`
	Drops   []ForwardDrops `json:"drops,omitempty"`
}

// ForwardSize is the result for frames of one size or one mix of sizes.
type ForwardSize struct {
	Frame string  `json:"frame"` // as requested: 64, imix
	Bytes float64 `json:"bytes"` // mean, with the frame check sequence
	// CeilingPerS is the highest rate that the generator reached in any trial, in frames per
	// second.
	CeilingPerS float64       `json:"ceiling_per_s"`
	Goals       []ForwardGoal `json:"goals"`
	// Bursts is nil if they were not requested.
	Bursts *ForwardBursts `json:"bursts,omitempty"`
}

// ForwardGoal is the highest rate at which at most a given share of frames is lost.
type ForwardGoal struct {
	// LossFree counts whole frames with their check sequences, instead of datagrams and payload, in
	// RateBps, PacketsPerS and DatagramBytes.
	LossFree
	// LineShare is the share of the link's rate that the frames take with preamble and inter-frame
	// gap. 0: the rate of the link is unknown.
	LineShare float64 `json:"line_share,omitempty"`
	// Latency is the time from passing a frame to the kernel until the kernel received it, for a
	// sample of the frames of the trials that confirmed the rate. Nil: no rate was found.
	Latency *Distribution `json:"latency_us,omitempty"`
	// Device has the counters of the device itself in ResultTrial. DeviceLosing has those of a
	// further trial at the lowest rate that lost too much. Nil: there was no such trial, or the
	// counters were not read.
	Device       *ForwardDevice `json:"device,omitempty"`
	DeviceLosing *ForwardDevice `json:"device_losing,omitempty"`
}

// ForwardDevice has the counters of a device, read by SNMP during a trial, at the port that
// received the frames and the port that forwarded them.
type ForwardDevice struct {
	SentPerS    float64       `json:"sent_per_s"` // by this host, in frames per second
	ArrivedPerS float64       `json:"arrived_per_s"`
	Reading     SwitchReading `json:"reading"`
}

// ForwardBursts are the longest bursts of back-to-back frames that the device forwards without loss
// (RFC 2544, section 26.4), and the size of its buffer that follows from them (RFC 9004).
type ForwardBursts struct {
	Frames          []int64 `json:"frames,omitempty"` // longest burst of each search; empty: see Why
	MeanFrames      float64 `json:"mean_frames"`
	DeviationFrames float64 `json:"deviation_frames"` // standard deviation; 0 of a single search
	// PerS is the frame rate within a burst: the highest that the generator reaches or is allowed.
	PerS float64 `json:"per_s"`
	// MostFrames is the longest burst that is tried. A result of this length may not be the limit
	// of the device.
	MostFrames int64 `json:"most_frames"`
	// BufferFrames is the part of the mean burst that the device has not yet forwarded when the
	// burst ends. BufferS is the time in which that many frames arrive: the corrected buffer time
	// of RFC 9004.
	BufferFrames float64 `json:"buffer_frames"`
	BufferS      float64 `json:"buffer_s"`
	Why          string  `json:"why,omitempty"` // why no burst was searched for
}

// ForwardDrops counts frames that this host lost at its own interfaces, over all trials.
type ForwardDrops struct {
	What   string `json:"what"`
	Frames int64  `json:"frames"`
}
