package record

// Forward is what a device forwards between two interfaces of one host (linerate.forward/v1).
type Forward struct {
	Schema    string `json:"schema"`
	Interface string `json:"interface"` // transmits
	Receive   string `json:"receive"`
	// Router is the next hop; empty: frames are addressed to Receive itself, as through a
	// switch. To is the MAC address that they have.
	Router string `json:"router,omitempty"`
	ToMAC  string `json:"to_mac"`
	From   string `json:"from"` // IP addresses of the frames
	To     string `json:"to"`
	Tuples int    `json:"tuples,omitempty"`
	// Mode is how frames were handed to the kernel, Refused why no faster one was taken.
	Mode    string `json:"mode"`
	Refused string `json:"refused,omitempty"`
	// LinkBps is the lower speed of the two interfaces; 0: not known, as of virtual ones.
	LinkBps float64        `json:"link_bps,omitempty"`
	Sizes   []ForwardSize  `json:"sizes"`
	Drops   []ForwardDrops `json:"drops,omitempty"`
}

// ForwardSize is what came of frames of one size, or mix of sizes.
type ForwardSize struct {
	Frame string  `json:"frame"` // as it was asked for: 64, imix
	Bytes float64 `json:"bytes"` // mean, with the check sequence
	// CeilingPerS is the most that the generator sent in any trial, in frames per second.
	CeilingPerS float64       `json:"ceiling_per_s"`
	Goals       []ForwardGoal `json:"goals"`
	// Bursts are nil if they were not asked for.
	Bursts *ForwardBursts `json:"bursts,omitempty"`
}

// ForwardGoal is the highest rate at which no more than a share of frames is lost.
type ForwardGoal struct {
	// LossFree is of frames with their check sequences in place of datagrams and payload:
	// RateBps, PacketsPerS, DatagramBytes.
	LossFree
	// LineShare is the share of the link that the rate takes, with preamble and gap; 0: the
	// link's rate is not known.
	LineShare float64 `json:"line_share,omitempty"`
	// Latency is that of some frames of the trials that confirmed the rate, from handing them
	// to the kernel until the kernel received them; nil: no rate was found.
	Latency *Distribution `json:"latency_us,omitempty"`
	// Device is what the device counted itself in ResultTrial, and DeviceLosing in one more at
	// the slowest rate that lost too much; nil: there was none, or it was not read.
	Device       *ForwardDevice `json:"device,omitempty"`
	DeviceLosing *ForwardDevice `json:"device_losing,omitempty"`
}

// ForwardDevice is what a device counted by SNMP in a trial, at the two ports that the frames
// passed: the one that received them, and the one that sent them on.
type ForwardDevice struct {
	SentPerS    float64       `json:"sent_per_s"` // by this host, in frames per second
	ArrivedPerS float64       `json:"arrived_per_s"`
	Reading     SwitchReading `json:"reading"`
}

// ForwardBursts are the longest bursts of frames of which the device forwards all, back to back
// (RFC 2544, section 26.4), and what follows of its buffer (RFC 9004).
type ForwardBursts struct {
	Frames          []int64 `json:"frames,omitempty"` // one of each search; none: Why
	MeanFrames      float64 `json:"mean_frames"`
	DeviationFrames float64 `json:"deviation_frames"` // standard deviation; 0 of a single search
	// PerS is the rate of a burst's frames: the most that the generator sends, or may.
	PerS float64 `json:"per_s"`
	// MostFrames is the longest burst that is tried; one as long may not be the device's limit.
	MostFrames int64 `json:"most_frames"`
	// BufferFrames is the part of a mean burst that the device has not forwarded when the burst
	// ends, BufferS the time in which so many arrive: the corrected buffer time of RFC 9004.
	BufferFrames float64 `json:"buffer_frames"`
	BufferS      float64 `json:"buffer_s"`
	Why          string  `json:"why,omitempty"` // why none was searched for
}

// ForwardDrops are frames that this host itself lost at its own interfaces, in all trials.
type ForwardDrops struct {
	What   string `json:"what"`
	Frames int64  `json:"frames"`
}
