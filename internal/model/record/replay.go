package record

// Replay is what `linerate replay` did with a capture (linerate.replay/v1).
type Replay struct {
	Schema    string `json:"schema"`
	Interface string `json:"interface"`
	// Mode is how frames were handed to the kernel, Refused why no faster one was taken.
	Mode    string `json:"mode"`
	Refused string `json:"refused,omitempty"`
	// Frames are those of the file, Passes how often it was asked for, Sent and SentBytes
	// what the kernel took, without check sequences.
	Frames    int   `json:"frames"`
	Passes    int   `json:"passes"`
	Sent      int64 `json:"sent"`
	SentBytes int64 `json:"sent_bytes"`
	// ScheduleS is from the first frame to the last by the schedule, 0: there was none;
	// TookS is how long that took. PerS and Bps follow, of frames without their check
	// sequences.
	ScheduleS float64 `json:"schedule_s,omitempty"`
	TookS     float64 `json:"took_s"`
	PerS      float64 `json:"frames_per_s"`
	Bps       float64 `json:"bps"`
	// Paced: no frame was more than flow.MaxLate behind its schedule.
	Paced bool `json:"paced"`
	// Lateness is of each call by which frames were handed over, behind the schedule.
	Lateness *Distribution `json:"lateness,omitempty"`
	// BlockedS is how long the queue of the interface had no room.
	BlockedS float64 `json:"blocked_s,omitempty"`
	// Truncated frames were not whole in the file, Earlier ones had an earlier time there
	// than the one in front of them.
	Truncated int `json:"truncated,omitempty"`
	Earlier   int `json:"earlier,omitempty"`
	// Received is what came of them at another interface; nil: none was watched.
	Received *ReplayReceived `json:"received,omitempty"`
}

// ReplayReceived is what became of the frames of a replay.
type ReplayReceived struct {
	Interface string `json:"interface"`
	// Received arrived, once each. Altered are those of them of which more differs than
	// routers change, Reordered those that came after one that was sent later.
	Received  int64 `json:"received"`
	Lost      int64 `json:"lost"`
	Altered   int64 `json:"altered"`
	Reordered int64 `json:"reordered"`
	// Duplicates arrived again, Other were not of the replay. Overrun arrived, and found the
	// buffer of this program full: they are counted as lost.
	Duplicates int64 `json:"duplicates"`
	Other      int64 `json:"other"`
	Overrun    int64 `json:"overrun,omitempty"`
	// Merged were larger than any frame that was sent: receive offload had merged some.
	Merged int64 `json:"merged,omitempty"`
	// Latency is from handing a frame to the kernel until the kernel received it.
	Latency *Distribution `json:"latency_us,omitempty"`
}
