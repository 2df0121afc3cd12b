package message

import "net/netip"

// Membership is what a lab's init process hands to the agent of each host that it makes, by a
// descriptor: that it made the host's network namespace, and for which lab. No other agent has
// one (docs/decisions/0047).
type Membership struct {
	// Key is drawn for the lab. Its conductor alone knows it.
	Key string `json:"key"`
	// Inode and Cookie identify the network namespace (netlink.NetNS).
	Inode  uint64 `json:"inode"`
	Cookie uint64 `json:"cookie,omitempty"`
}

// AttacksRequest has a host of a lab prepare what it is to do to others in the next window. It
// takes the place of what was prepared before.
type AttacksRequest struct {
	// Key is that of the lab which the conductor has made (Membership).
	Key     string          `json:"key"`
	Attacks []AttackRequest `json:"attacks"`
}

// AttackRequest is one attack. What does not belong to its kind is zero.
type AttackRequest struct {
	Kind   string         `json:"kind"` // of package attacks
	Target netip.AddrPort `json:"target"`
	// PerSecond is the rate of frames or connections, Connections how many at a time.
	PerSecond   int `json:"per_second"`
	Connections int `json:"connections,omitempty"`
	// Sources is the network of the source addresses, Network that of the target.
	Sources netip.Prefix `json:"sources,omitzero"`
	Network netip.Prefix `json:"network,omitzero"`
	// Taken are addresses of Network that hosts have.
	Taken []netip.Addr `json:"taken,omitempty"`
	// Claimed is the address that ARP replies claim.
	Claimed netip.Addr `json:"claimed,omitzero"`
	// Payload is what each packet carries, in bytes, and Path what HTTP requests ask for.
	Payload int    `json:"payload,omitempty"`
	Path    string `json:"path,omitempty"`
	// Seed is that of everything that is drawn.
	Seed [2]uint64 `json:"seed"`
}
