package message

import "net/netip"

// Membership proves to an agent that the init process of a lab created its network namespace, and
// for which lab. The init process passes it to the agent of each host through a descriptor; no
// other agent has one (docs/decisions/0047).
type Membership struct {
	// Key is a random key of the lab that only its conductor knows.
	Key string `json:"key"`
	// Inode and Cookie identify the network namespace (netlink.NetNS).
	Inode  uint64 `json:"inode"`
	Cookie uint64 `json:"cookie,omitempty"`
	// OneCPU reports whether the init process has set CPUsVariable to 1.
	OneCPU bool `json:"one_cpu,omitempty"`
}

// CPUsVariable is the environment variable with the number of CPUs that the Go runtime uses at a time.
const CPUsVariable = "GOMAXPROCS"

// AttacksRequest prepares the attacks that a host of a lab executes in the next window. It replaces
// what was prepared before.
type AttacksRequest struct {
	// Key is the Membership key of the lab that the conductor created.
	Key     string          `json:"key"`
	Attacks []AttackRequest `json:"attacks"`
}

// AttackRequest describes one attack. Fields that do not apply to its kind are zero.
type AttackRequest struct {
	Kind   string         `json:"kind"` // of package attacks
	Target netip.AddrPort `json:"target"`
	// PerSecond is the rate of frames or connections. Connections is the maximum number of
	// concurrent ones.
	PerSecond   int `json:"per_second"`
	Connections int `json:"connections,omitempty"`
	// Sources is the network of the source addresses. Network is that of the target.
	Sources netip.Prefix `json:"sources,omitzero"`
	Network netip.Prefix `json:"network,omitzero"`
	// Taken lists addresses of Network that hosts use.
	Taken []netip.Addr `json:"taken,omitempty"`
	// Claimed is the address that ARP replies claim.
	Claimed netip.Addr `json:"claimed,omitzero"`
	// Payload is the payload of each packet in bytes. Path is the path that HTTP requests ask for.
	Payload int    `json:"payload,omitempty"`
	Path    string `json:"path,omitempty"`
	// Seed is the seed of all random choices.
	Seed [2]uint64 `json:"seed"`
}
