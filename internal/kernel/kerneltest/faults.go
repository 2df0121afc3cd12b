package kerneltest

import "syscall"

// Operations of calls.
const (
	Create   = "create" // an open with O_CREAT or O_TRUNC
	Write    = "write"
	Sync     = "sync" // of a file or a directory
	Truncate = "truncate"
	Rename   = "rename"
	Link     = "link"
	Remove   = "remove"
	Send     = "send"
)

// Call is a system call that changes a file or sends to a socket, made by a process that Supervised runs.
type Call struct {
	Op   string
	Path string // for a socket: its name in /proc
	To   string // new path, for Rename and Link
	Data []byte // content, for Write
	// Offset is the offset of a Write or the size of a Truncate; for Create, 1 if the file becomes empty.
	Offset int64
}

// Fault says how a call fails. The zero value: it succeeds.
type Fault struct {
	Errno syscall.Errno
	// Torn says that half of a Write is written before it fails.
	Torn bool
}
