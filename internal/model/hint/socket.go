package hint

// Hints about sockets' queues and buffers.
type (
	// ProgramBacklog: a larger backlog of the program's, which somaxconn does not bound.
	ProgramBacklog struct {
		Somaxconn int64 `json:"somaxconn"`
	}
	// LargerBacklog: a larger backlog of the program's, after the step that follows.
	LargerBacklog struct{}
	// ForcedBuffer: the program reads faster; its receive buffer is larger than SO_RCVBUF may be.
	ForcedBuffer struct {
		Bytes int64 `json:"bytes"`
		Most  int64 `json:"most"` // net.core.rmem_max
	}
	// OwnBuffer: a larger receive buffer by the program's own option.
	OwnBuffer struct{}
	// BufferUpTo: the program reads faster or sets a larger SO_RCVBUF.
	BufferUpTo struct {
		Most int64 `json:"most"` // net.core.rmem_max
	}
	// LargerBuffer is BufferUpTo after the step that follows.
	LargerBuffer struct{}
)

var (
	_ = is[ProgramBacklog]("program_backlog")
	_ = is[LargerBacklog]("larger_backlog")
	_ = is[ForcedBuffer]("forced_buffer")
	_ = is[OwnBuffer]("own_buffer")
	_ = is[BufferUpTo]("buffer_up_to")
	_ = is[LargerBuffer]("larger_buffer")
)
