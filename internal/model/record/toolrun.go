package record

import "linerate/internal/model/tool"

// ToolRun is one run of another program, a client and its server, in one trial.
type ToolRun struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Client and Server are hosts. The commands are as they were started there.
	Client        string   `json:"client"`
	Server        string   `json:"server"`
	Command       []string `json:"command"`
	ServerCommand []string `json:"server_command"`
	// NotConfined says why the client or its server was not confined and could write files on its
	// host. Empty: both were confined.
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
	// GoodputBps is the goodput of the same connections as linerate counts it: what their receivers
	// read in the common window.
	GoodputBps float64 `json:"goodput_bps"`
	// WrittenBytes is what the connections carried in their whole lifetime, as the kernel counts
	// it. WritingS is the time from the first byte to the last write, OwnS the time from the first
	// byte to the end. 0: unknown.
	WrittenBytes int64   `json:"written_bytes,omitempty"`
	WritingS     float64 `json:"writing_s,omitempty"`
	OwnS         float64 `json:"own_s,omitempty"`
	// PredictedBps is what a tool that counts at the sender must then report: WrittenBytes divided
	// by the time after which this tool stops its clock. 0: unknown.
	PredictedBps float64 `json:"predicted_bps,omitempty"`
	// Output and the following fields are what was printed, up to MaxPrinted bytes.
	Output       string `json:"output"`
	Errors       string `json:"errors,omitempty"`
	ServerOutput string `json:"server_output,omitempty"`
	ServerErrors string `json:"server_errors,omitempty"`
	// Error says why there is no figure.
	Error string `json:"error,omitempty"`
}

// Values of CountedBy: the end that counted the bytes.
const (
	CountedBySender   = "sender"
	CountedByReceiver = "receiver"
)

// CountedAtInterfaces is the value of Flow.CountedAt for a flow whose bytes no socket counts.
const CountedAtInterfaces = "interfaces"
