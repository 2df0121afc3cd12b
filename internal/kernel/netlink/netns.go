package netlink

import "fmt"

// NetNS names a network namespace of a machine: the inode of its nsfs file, and
// its cookie, which unlike the inode is never given to another namespace (0
// where the kernel is older than 5.14 and has none).
type NetNS struct {
	Inode  uint64 `json:"inode"`
	Cookie uint64 `json:"cookie,omitempty"`
}

// Equal says whether two names mean the same namespace.
func (n NetNS) Equal(other NetNS) bool {
	if n.Cookie != 0 && other.Cookie != 0 {
		return n.Cookie == other.Cookie
	}
	return n.Inode == other.Inode
}

func (n NetNS) String() string { return fmt.Sprintf("net:[%d]", n.Inode) }
