package flow

// Modes of moving a flow's bytes. They are methods of sending, except that
// ModeCopy is also one of receiving: in all others the receiver's kernel throws
// the data away (ModeTruncate, where the system can).
const (
	ModeAuto     = "auto"     // the cheapest mode, found by trying
	ModeCopy     = "copy"     // what an ordinary program does: writes and reads of 128 KiB
	ModeWrite    = "write"    // writes of the cheapest size, found out by trying
	ModeSplice   = "splice"   // pages through a pipe, not copied
	ModeZeroCopy = "zerocopy" // MSG_ZEROCOPY
	ModeSendfile = "sendfile" // from a file in memory, not copied
	ModeTruncate = "truncate" // only reported: received with MSG_TRUNC
)

// Modes of moving a udp flow's datagrams. The first three are methods of sending, the
// others of receiving.
const (
	ModeGSO      = "gso"      // many datagrams as one, which the kernel cuts (UDP_SEGMENT)
	ModeSendmmsg = "sendmmsg" // several in one system call
	ModeSendto   = "sendto"   // one in each
	ModeGRO      = "gro"      // many as one, which the kernel has put together (UDP_GRO)
	ModeRecvmmsg = "recvmmsg" // several in one system call
	ModeRecv     = "recv"     // one in each
)

// Modes is every mode that may be ordered of a tcp flow.
var Modes = []string{ModeAuto, ModeCopy, ModeWrite, ModeSplice, ModeZeroCopy, ModeSendfile}

// ModesTried begins the note of a flow that has tried several modes: what each cost.
const ModesTried = "tried, in GB per second of CPU: "
