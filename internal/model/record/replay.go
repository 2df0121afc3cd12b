package record

// Replay is the result of `linerate replay` with a capture (linerate.replay/v1).
type Replay struct {
	Schema    string `json:"schema"`
	Interface string `json:"interface"`
	// Mode is how frames were passed to the kernel. Refused is why no faster mode was used.
	Mode    string `json:"mode"`
	Refused string `json:"refused,omitempty"`
	// Frames is the number of frames in the file, and Passes how often it was to be sent. Sent and
	// SentBytes are what the kernel accepted, without frame check sequences.
	Frames    int   `json:"frames"`
	Passes    int   `json:"passes"`
	Sent      int64 `json:"sent"`
	SentBytes int64 `json:"sent_bytes"`
	// ScheduleS is the scheduled time from the first frame to the last, 0 without a schedule. TookS
	// is the actual time. PerS and Bps are the rates over TookS, without frame check sequences.
	ScheduleS float64 `json:"schedule_s,omitempty"`
	TookS     float64 `json:"took_s"`
	PerS      float64 `json:"frames_per_s"`
	Bps       float64 `json:"bps"`
	// Paced reports whether every frame was sent within flow.MaxLate of its schedule.
	Paced bool `json:"paced"`
	// Lateness is the delay of each call that sent frames, relative to the schedule.
	Lateness *Distribution `json:"lateness,omitempty"`
	// BlockedS is the time during which the queue of the interface was full.
	BlockedS float64 `json:"blocked_s,omitempty"`
	// Truncated counts frames that the file does not contain in full. Earlier counts frames whose
	// time in the file is before that of the preceding frame.
	Truncated int `json:"truncated,omitempty"`
	Earlier   int `json:"earlier,omitempty"`
	// Received is what arrived at another interface. Nil: no interface was watched.
	Received *ReplayReceived `json:"received,omitempty"`
}

// ReplayReceived counts the frames of a replay that arrived at an interface.
type ReplayReceived struct {
	Interface string `json:"interface"`
	// Received counts frames that arrived, each once. Altered counts those that differ in more than
	// what routers change. Reordered counts those that arrived after one that was sent later.
	Received  int64 `json:"received"`
	Lost      int64 `json:"lost"`
	Altered   int64 `json:"altered"`
	Reordered int64 `json:"reordered"`
	// Duplicates counts further arrivals of the same frame. Other counts frames that are not of the
	// replay. Overrun counts frames that arrived when the buffer of this program was full; they are
	// also counted as lost.
	Duplicates int64 `json:"duplicates"`
	Other      int64 `json:"other"`
	Overrun    int64 `json:"overrun,omitempty"`
	// Merged counts packets larger than any frame sent, because receive offload merged several
	// frames.
	Merged int64 `json:"merged,omitempty"`
	// Latency is the time from passing a frame to the kernel until the kernel received it.
	Latency *Distribution `json:"latency_us,omitempty"`
}
