package hint

// Advice about the queues and buffers of sockets.
type (
	// ProgramBacklog advises a larger backlog in the program, because somaxconn does not limit it.
	ProgramBacklog struct {
		Somaxconn int64 `json:"somaxconn"`
	}
	// LargerBacklog advises a larger backlog in the program, after the step that follows.
	LargerBacklog struct{}
	// ForcedBuffer advises a program that reads faster. Its receive buffer is already larger than
	// SO_RCVBUF can set.
	ForcedBuffer struct {
		Bytes int64 `json:"bytes"`
		Most  int64 `json:"most"` // net.core.rmem_max
	}
	// OwnBuffer advises a larger receive buffer by an option of the program itself.
	OwnBuffer struct{}
	// BufferUpTo advises a program that reads faster, or a larger SO_RCVBUF.
	BufferUpTo struct {
		Most int64 `json:"most"` // net.core.rmem_max
	}
	// LargerBuffer is BufferUpTo with a limit that the step which follows raises.
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
