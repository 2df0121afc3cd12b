package snmp

// The objects that are requested. docs/switches.md lists them with their RFCs.
const (
	sysDescr  = "1.3.6.1.2.1.1.1.0"
	sysUpTime = "1.3.6.1.2.1.1.3.0"
	sysName   = "1.3.6.1.2.1.1.5.0"

	ifDescr     = "1.3.6.1.2.1.2.2.1.2"
	ifType      = "1.3.6.1.2.1.2.2.1.3"
	ifSpeed     = "1.3.6.1.2.1.2.2.1.5"
	ifName      = "1.3.6.1.2.1.31.1.1.1.1"
	ifHighSpeed = "1.3.6.1.2.1.31.1.1.1.15"
	ifAlias     = "1.3.6.1.2.1.31.1.1.1.18"

	ifDiscontinuity = "1.3.6.1.2.1.31.1.1.1.19"

	dot1dBasePortIfIndex = "1.3.6.1.2.1.17.1.4.1.2"
	dot1dTpFdbPort       = "1.3.6.1.2.1.17.4.3.1.2"
	dot1qTpFdbPort       = "1.3.6.1.2.1.17.7.1.2.2.1.2"

	lldpLocPortID = "1.0.8802.1.1.2.1.3.7.1.3"
	ifPhysAddress = "1.3.6.1.2.1.2.2.1.6"

	lldpLocChassisIDSubtype = "1.0.8802.1.1.2.1.3.1.0"
	lldpLocChassisID        = "1.0.8802.1.1.2.1.3.2.0"
	lldpRemChassisIDSubtype = "1.0.8802.1.1.2.1.4.1.1.4"
	lldpRemChassisID        = "1.0.8802.1.1.2.1.4.1.1.5"
	lldpRemPortDesc         = "1.0.8802.1.1.2.1.4.1.1.8"
	lldpRemSysCapEnabled    = "1.0.8802.1.1.2.1.4.1.1.12"
	lldpChassisMAC          = 4

	lldpRemPortIDSubtype = "1.0.8802.1.1.2.1.4.1.1.6"
	lldpRemPortID        = "1.0.8802.1.1.2.1.4.1.1.7"
	lldpRemSysName       = "1.0.8802.1.1.2.1.4.1.1.9"
	lldpSubtypeMAC       = 3
	lldpIndexOfLocalPort = 1 // element of the index: time mark, local port, number
	lldpIndexLen         = 3
)

// counter is a counter's objects of 64 bits (wide) and 32 bits (narrow); empty: does not exist.
type counter struct{ name, wide, narrow string }

// counters are in the order of record.SwitchCounters. The 64-bit counters of octets and packets are in
// ifXTable, as are both sizes of multicast and broadcast packets.
var counters = []counter{
	{"ifInOctets", "1.3.6.1.2.1.31.1.1.1.6", "1.3.6.1.2.1.2.2.1.10"},
	{"ifOutOctets", "1.3.6.1.2.1.31.1.1.1.10", "1.3.6.1.2.1.2.2.1.16"},
	{"ifInUcastPkts", "1.3.6.1.2.1.31.1.1.1.7", "1.3.6.1.2.1.2.2.1.11"},
	{"ifOutUcastPkts", "1.3.6.1.2.1.31.1.1.1.11", "1.3.6.1.2.1.2.2.1.17"},
	{"ifInMulticastPkts", "1.3.6.1.2.1.31.1.1.1.8", "1.3.6.1.2.1.31.1.1.1.2"},
	{"ifOutMulticastPkts", "1.3.6.1.2.1.31.1.1.1.12", "1.3.6.1.2.1.31.1.1.1.4"},
	{"ifInBroadcastPkts", "1.3.6.1.2.1.31.1.1.1.9", "1.3.6.1.2.1.31.1.1.1.3"},
	{"ifOutBroadcastPkts", "1.3.6.1.2.1.31.1.1.1.13", "1.3.6.1.2.1.31.1.1.1.5"},
	{"ifInDiscards", "", "1.3.6.1.2.1.2.2.1.13"},
	{"ifOutDiscards", "", "1.3.6.1.2.1.2.2.1.19"},
	{"ifInErrors", "", "1.3.6.1.2.1.2.2.1.14"},
	{"ifOutErrors", "", "1.3.6.1.2.1.2.2.1.20"},
}

// oid returns the object for a port with counters of this many bits.
func (c counter) oid(bits int) string {
	if c.wide == "" || bits == 32 {
		return c.narrow
	}
	return c.wide
}
