package record

import "linerate/internal/model/tool"

// ToolRun is one client and its server of another program in one trial.
type ToolRun struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Client and Server are the hosts; the commands are as started there.
	Client        string   `json:"client"`
	Server        string   `json:"server"`
	Command       []string `json:"command"`
	ServerCommand []string `json:"server_command"`
	// NotConfined is why the client, or its server, was not confined: it could write files
	// there. Empty: both were.
	NotConfined string `json:"not_confined,omitempty"`
	// LateS is how long after the trial's start the client was started, TookS how
	// long it lived; 0: it had to be killed.
	LateS float64 `json:"late_s"`
	TookS float64 `json:"took_s"`
	// ReportedBps is the figure that people read off the client; CountedBy is which
	// end counted it, sender or receiver.
	ReportedBps float64 `json:"reported_bps"`
	CountedBy   string  `json:"counted_by,omitempty"`
	tool.Report
	// GoodputBps is linerate's own count for the same connections: what their
	// receivers read in the common window.
	GoodputBps float64 `json:"goodput_bps"`
	// WrittenBytes is what its connections carried in all their life, as the kernel
	// counts it; WritingS is the time from their first byte to the last write, OwnS
	// that to their end. 0: not known.
	WrittenBytes int64   `json:"written_bytes,omitempty"`
	WritingS     float64 `json:"writing_s,omitempty"`
	OwnS         float64 `json:"own_s,omitempty"`
	// PredictedBps is what a tool that counts at the sender must say by that: the
	// bytes over the time after which this one stops its clock.
	PredictedBps float64 `json:"predicted_bps,omitempty"`
	// Output, and the others, are what was printed (MaxPrinted).
	Output       string `json:"output"`
	Errors       string `json:"errors,omitempty"`
	ServerOutput string `json:"server_output,omitempty"`
	ServerErrors string `json:"server_errors,omitempty"`
	// Error says why there is no figure.
	Error string `json:"error,omitempty"`
}

// Ends that count.
const (
	CountedBySender   = "sender"
	CountedByReceiver = "receiver"
)

// CountedAtInterfaces marks a flow that no socket counts.
const CountedAtInterfaces = "interfaces"
