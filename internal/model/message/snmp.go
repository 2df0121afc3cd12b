package message

// SNMPDatagram is a request to the SNMP agent of a lab's switch, or its reply.
type SNMPDatagram struct {
	Datagram []byte `json:"datagram"`
}

// SNMPDaemon describes the SNMP agent that was started in a lab's switch.
type SNMPDaemon struct {
	Community string `json:"community"` // random for this lab; the agent only listens on the loopback
}
