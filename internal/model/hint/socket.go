package hint

// Advice about the queues and buffers of sockets.
type (
	// ProgramBacklog advises a larger backlog in the program, because somaxconn does not limit it.
	ProgramBacklog struct {
		Somaxconn int64 `json:"somaxconn"`
	}
	// LargerBacklog advises a larger backlog in the program. The next step of the fix raises
	// somaxconn, which limits it.
	LargerBacklog struct{}
	// ForcedBuffer advises making a program read faster. Its receive buffer is already larger than
	// SO_RCVBUF allows, so a larger rmem_max does not help.
	ForcedBuffer struct {
		Bytes int64 `json:"bytes"` // size of the receive buffer
		Most  int64 `json:"most"`  // net.core.rmem_max
	}
	// OwnBuffer advises a larger receive buffer, set by the program's own option.
	OwnBuffer struct{}
	// BufferUpTo advises making a program read faster or setting a larger SO_RCVBUF, up to Most.
	BufferUpTo struct {
		Most int64 `json:"most"` // net.core.rmem_max
	}
	// LargerBuffer is like BufferUpTo, but the next step of the fix raises net.core.rmem_max.
	LargerBuffer struct{}
)

var _ = are(ProgramBacklog{}, LargerBacklog{}, ForcedBuffer{}, OwnBuffer{}, BufferUpTo{}, LargerBuffer{})
