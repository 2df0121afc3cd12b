package message

// ProgramsRequest asks which of these programs are installed.
type ProgramsRequest struct {
	Programs []string `json:"programs"`
}

// ProgramsReply names the programs that are not installed.
type ProgramsReply struct {
	Missing []string `json:"missing,omitempty"`
}

// ToolsRequest asks for the output of a trial's programs: of the clients when they have ended or
// the timeout expires, or of the servers, which are terminated first.
type ToolsRequest struct {
	Servers   bool  `json:"servers"`
	TimeoutNs int64 `json:"timeout_ns"`
}

// Printed has the times and the output of a program. Instants are on the agent's own clock.
type Printed struct {
	Process string   `json:"process"`
	Command []string `json:"command"`
	StartNs int64    `json:"start_ns"`
	EndNs   int64    `json:"end_ns,omitempty"` // 0: it had to be killed
	Status  int      `json:"status"`
	// Text is the end of its standard output and Errors that of its standard error, at most
	// MaxPrinted bytes each.
	Text   string `json:"text"`
	Errors string `json:"errors,omitempty"`
	// NotConfined is why the program could write files or had root's capabilities. Empty: it was
	// confined.
	NotConfined string `json:"not_confined,omitempty"`
	// Lives describes the connections on which the program sends.
	Lives []Life `json:"lives,omitempty"`
}

// Life describes a connection of a program from its first byte to its end, by the kernel's
// counters. Instants are on the agent's own clock.
type Life struct {
	ID string `json:"id"` // the flow's
	// FirstNs is the time of the first write of data, LastNs that of the last.
	FirstNs int64 `json:"first_ns"`
	LastNs  int64 `json:"last_ns"`
	// EndNs is when the connection or the program ended, whichever was first. 0: neither has.
	EndNs        int64 `json:"end_ns,omitempty"`
	WrittenBytes int64 `json:"written_bytes"`
}

// MaxPrinted is the number of bytes that are kept of the output of a program.
const MaxPrinted = 64 << 10
