package record

import "linerate/internal/model/tool"

// What other people's tools are told, and what they say of themselves.

// ToolRequest says that a flow is made by another program's process instead of by
// linerate. Flows of one process name it by the same ID.
type ToolRequest struct {
	Tool    string   `json:"tool"`
	Process string   `json:"process"`
	Args    []string `json:"args,omitempty"`
}

// ProgramsRequest asks which of these programs are installed.
type ProgramsRequest struct {
	Programs []string `json:"programs"`
}

// ProgramsReply names those that are not.
type ProgramsReply struct {
	Missing []string `json:"missing,omitempty"`
}

// ToolsRequest asks for what a trial's programs have printed: the clients', once
// they have ended or the time is over, or the servers', which are ended first.
type ToolsRequest struct {
	Servers   bool  `json:"servers"`
	TimeoutNs int64 `json:"timeout_ns"`
}

// Printed is one program's life and its words. Instants are the agent's own.
type Printed struct {
	Process string   `json:"process"`
	Command []string `json:"command"`
	StartNs int64    `json:"start_ns"`
	EndNs   int64    `json:"end_ns,omitempty"` // 0: it had to be killed
	Status  int      `json:"status"`
	// Text is its standard output and Errors its standard error, each up to
	// MaxPrinted bytes of its end.
	Text   string `json:"text"`
	Errors string `json:"errors,omitempty"`
	// Lives are those of the program's connections on which it sends.
	Lives []Life `json:"lives,omitempty"`
}

// Life is a connection of a program from its first byte to its end, as the kernel
// tells of it and the program does not. Instants are the agent's own.
type Life struct {
	ID string `json:"id"` // the flow's
	// FirstNs is when the first byte was written, LastNs when the last one was.
	FirstNs int64 `json:"first_ns"`
	LastNs  int64 `json:"last_ns"`
	// EndNs is when the connection or the program was gone, whichever was first; 0:
	// neither was.
	EndNs        int64 `json:"end_ns,omitempty"`
	WrittenBytes int64 `json:"written_bytes"`
}

// MaxPrinted is how much is kept of what a program prints.
const MaxPrinted = 64 << 10

// ToolRun is one client and its server of another program in one trial.
type ToolRun struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Client and Server are the hosts; the commands are as started there.
	Client        string   `json:"client"`
	Server        string   `json:"server"`
	Command       []string `json:"command"`
	ServerCommand []string `json:"server_command"`
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
