package record

import (
	"fmt"
	"strings"

	"linerate/internal/model/unit"
)

// Replay is the result of `linerate replay` with a capture (linerate.replay/v1).
type Replay struct {
	Schema    string `json:"schema"`
	Interface string `json:"interface"`
	// Mode is how frames were passed to the kernel. Refused is why no faster mode was used.
	Mode    string `json:"mode"`
	Refused string `json:"refused,omitempty"`
	// Frames is the number of frames to send in each pass, and Passes how often. Sent and SentBytes are
	// what the kernel accepted, without frame check sequences.
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
	// Remarks say which frames were not sent as they are in the file, and what is wrong with them.
	Remarks []ReplayRemark `json:"remarks,omitempty"`
	// Cut is set if the file ends early.
	Cut *ReplayCut `json:"cut,omitempty"`
	// Towards is where most of the frames went.
	Towards ReplayTowards `json:"towards"`
	// Received is what arrived at another interface. Nil: no interface was watched.
	Received *ReplayReceived `json:"received,omitempty"`
}

// ReplayRemark is something about frames of the file.
type ReplayRemark struct {
	Code ReplayCode `json:"code"`
	// Frames is how many, and First has the numbers of the first of them in the file, from 1.
	Frames int   `json:"frames"`
	First  []int `json:"first"`
}

// Numbers returns the numbers of the frames as text.
func (r ReplayRemark) Numbers() string {
	text := "frame "
	if r.Frames > 1 {
		text = "frames "
	}
	list := make([]string, len(r.First))
	for i, n := range r.First {
		list[i] = unit.FormatCount(int64(n))
	}
	text += strings.Join(list, ", ")
	if more := r.Frames - len(r.First); more > 0 {
		text += fmt.Sprintf(" and %s more", unit.FormatCount(int64(more)))
	}
	return text
}

// ReplayCode is the kind of a ReplayRemark.
type ReplayCode string

// What was done with frames. Check sequences were removed, since the interface adds one: of frames whose file
// announces one, and of those that end in a valid one although it does not.
const (
	ReplayFCS         ReplayCode = "fcs-removed"
	ReplayFCSFound    ReplayCode = "fcs-found"
	ReplayFCSWrong    ReplayCode = "fcs-wrong"         // and it was wrong: the frame had been damaged
	ReplayHeader      ReplayCode = "header-made"       // has an Ethernet header of its own
	ReplayCompleted   ReplayCode = "checksum-made"     // was captured before its interface had made checksums
	ReplayWrong       ReplayCode = "checksum-wrong"    // has a wrong checksum, and was sent with it
	ReplayTrailer     ReplayCode = "trailer-removed"   // was too large with what is behind its IP packet
	ReplaySegmented   ReplayCode = "segmented"         // was too large, and sent in several frames
	ReplayIncomplete  ReplayCode = "incomplete"        // sent as far as the file has it
	ReplayPadded      ReplayCode = "padded"            // incomplete, and sent in full length with zeros
	ReplayEarlier     ReplayCode = "earlier"           // has an earlier time than the one before
	ReplayGap         ReplayCode = "gap-shortened"     // was due later than --max-gap after the one before
	ReplayNoPart      ReplayCode = "left-incomplete"   // left out: incomplete
	ReplayTooLarge    ReplayCode = "left-too-large"    // left out: larger than the interface sends
	ReplayTooShort    ReplayCode = "left-too-short"    // left out: shorter than an Ethernet header
	ReplayForeignLink ReplayCode = "left-foreign-link" // left out: another link type
)

// ReplayCodes are all kinds of remarks.
var ReplayCodes = []ReplayCode{ReplayTooLarge, ReplayTooShort, ReplayForeignLink, ReplayNoPart, ReplayIncomplete,
	ReplayPadded, ReplaySegmented, ReplayTrailer, ReplayHeader, ReplayFCS, ReplayFCSFound, ReplayFCSWrong,
	ReplayCompleted, ReplayWrong, ReplayEarlier, ReplayGap}

// ReplayCut is how a file ends early.
type ReplayCut struct {
	// After is the number of complete frames before. InFrame means that the next one is there in part. Missing
	// is how many of its bytes, or of those of another block, are missing at least; 0: unknown.
	After   int  `json:"after_frame"`
	InFrame bool `json:"in_frame"`
	Missing int  `json:"missing_bytes,omitempty"`
	// Damaged is why what follows cannot be read; empty: nothing follows.
	Damaged string `json:"damaged,omitempty"`
}

// ReplayTowards is the most frequent destination of frames. Frames and Packets count those that have it.
type ReplayTowards struct {
	MAC     string `json:"mac,omitempty"`
	Frames  int    `json:"frames,omitempty"`
	IP      string `json:"ip,omitempty"` // of IP packets; empty: there are none
	Packets int    `json:"packets,omitempty"`
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
	// LostIncomplete counts those of Lost that the file has in part: a router drops an IP packet that is
	// shorter than its header says.
	LostIncomplete int64 `json:"lost_incomplete,omitempty"`
	// LostLocal counts others of Lost that a router does not forward, although a switch does: frames that are
	// not IP, multicast or broadcast, link-local, or have reached the end of their time to live.
	LostLocal int64 `json:"lost_local,omitempty"`
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
