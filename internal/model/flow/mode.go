package flow

// Modes of transferring the bytes of a TCP flow. They are methods of sending, except that ModeCopy
// also copies on the receiver. In all other modes the receiving kernel discards the data
// (ModeTruncate), if the system supports that.
const (
	ModeAuto     = "auto"     // the cheapest mode, found by trying
	ModeCopy     = "copy"     // like an ordinary program: writes and reads of 128 KiB
	ModeWrite    = "write"    // writes of the cheapest size, found by trying
	ModeSplice   = "splice"   // pages through a pipe, without a copy
	ModeZeroCopy = "zerocopy" // MSG_ZEROCOPY
	ModeSendfile = "sendfile" // from a file in memory, without a copy
	ModeTruncate = "truncate" // only in results: received with MSG_TRUNC
)

// Modes of transferring the datagrams of a UDP flow. The first three are methods of sending, the
// others of receiving.
const (
	ModeGSO      = "gso"      // one system call for a large buffer that the kernel cuts into datagrams (UDP_SEGMENT)
	ModeSendmmsg = "sendmmsg" // several datagrams in one system call
	ModeSendto   = "sendto"   // one datagram in each system call
	ModeGRO      = "gro"      // several datagrams in one buffer that the kernel has assembled (UDP_GRO)
	ModeRecvmmsg = "recvmmsg" // several datagrams in one system call
	ModeRecv     = "recv"     // one datagram in each system call
)

// Modes lists the modes that can be requested for a TCP flow.
var Modes = []string{ModeAuto, ModeCopy, ModeWrite, ModeSplice, ModeZeroCopy, ModeSendfile}

// ModesTried is the prefix of the note of a flow that tried several modes and lists the cost of
// each.
const ModesTried = "tried, in GB per second of CPU: "
