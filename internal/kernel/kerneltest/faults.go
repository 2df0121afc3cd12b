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

// Call is a system call that changes a file or sends to a socket, by a process that
// Supervised runs.
type Call struct {
	Op   string
	Path string // of a socket: what /proc names it
	To   string // of Rename, Link
	Data []byte // of Write
	// Offset of a Write; the size of a Truncate; of Create 1 if the file becomes empty.
	Offset int64
}

// Fault is how a call fails. The zero value: it does not.
type Fault struct {
	Errno syscall.Errno
	// Torn: half of what a Write has is written before it fails.
	Torn bool
}
