package cause

// UDPSocketDropped is a UDP socket that has dropped datagrams.
var UDPSocketDropped = one[None]("udp-socket-dropped")
