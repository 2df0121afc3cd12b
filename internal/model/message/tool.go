package message

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

// Printed is one program's times and output. Instants are the agent's own.
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
	// NotConfined is why the program could write files or had root's capabilities; empty:
	// it was confined.
	NotConfined string `json:"not_confined,omitempty"`
	// Lives are those of the program's connections on which it sends.
	Lives []Life `json:"lives,omitempty"`
}

// Life is a connection of a program from its first byte to its end, from the kernel's
// counts. Instants are the agent's own.
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
