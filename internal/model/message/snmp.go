package message

// SNMPDatagram is a datagram to the SNMP agent of a lab's switch, or the reply to it.
type SNMPDatagram struct {
	Datagram []byte `json:"datagram"`
}

// SNMPDaemon is what serves SNMP in a lab's switch, which was started with that.
type SNMPDaemon struct {
	Community string `json:"community"` // drawn for this lab; it is served on the loopback alone
}
