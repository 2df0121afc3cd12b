package netlink

// LLDPFrame is a received frame of the Link Layer Discovery Protocol.
type LLDPFrame struct {
	Index int    // of the interface that received it
	PDU   []byte // without the Ethernet header
}

// mostLLDPFrames bounds how many different frames are kept of an interface.
const mostLLDPFrames = 16
