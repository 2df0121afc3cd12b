package wording

import "linerate/internal/model/cause"

var _ = say(cause.UDPSocketDropped, words[cause.None]{
	text:  "UDP sockets have dropped datagrams for which they had no room",
	read:  "udp(7); proc_net_udp(5)",
	found: "A UDP socket has dropped datagrams since it was opened.",
	fix:   []string{"have the program read faster, or a larger SO_RCVBUF, up to net.core.rmem_max"},
})
