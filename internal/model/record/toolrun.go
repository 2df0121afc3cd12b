package record

import "linerate/internal/model/tool"

// ToolRun is one client and its server of another program in one trial.
type ToolRun struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Client and Server are hosts. The commands are as they were started there.
	Client        string   `json:"client"`
	Server        string   `json:"server"`
	Command       []string `json:"command"`
	ServerCommand []string `json:"server_command"`
	// NotConfined says why the client or its server was not confined and could write files there.
	// Empty: both were confined.
	NotConfined string `json:"not_confined,omitempty"`
	// LateS is how long after the start of the trial the client was started. TookS is how long it
	// ran; 0: it had to be killed.
	LateS float64 `json:"late_s"`
	TookS float64 `json:"took_s"`
	// ReportedBps is the figure that people read from the client's output. CountedBy is the end
	// that counted it, sender or receiver.
	ReportedBps float64 `json:"reported_bps"`
	CountedBy   string  `json:"counted_by,omitempty"`
	tool.Report
	// GoodputBps is linerate's own count for the same connections: what their receivers read in the
	// common window.
	GoodputBps float64 `json:"goodput_bps"`
	// WrittenBytes is what its connections carried in their whole lifetime, as the kernel counts
	// it. WritingS is the time from their first byte to the last write, OwnS that to their end. 0:
	// unknown.
	WrittenBytes int64   `json:"written_bytes,omitempty"`
	WritingS     float64 `json:"writing_s,omitempty"`
	OwnS         float64 `json:"own_s,omitempty"`
	// PredictedBps is what a tool that counts at the sender must then report: these bytes divided
	// by the time after which this tool stops its clock.
	PredictedBps float64 `json:"predicted_bps,omitempty"`
	// Output and the following fields are what was printed, up to MaxPrinted bytes.
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

// CountedAtInterfaces marks a flow whose bytes no socket counts.
const CountedAtInterfaces = "interfaces"
