package netlink

import "fmt"

// NetNS identifies a network namespace of a machine by the inode of its nsfs file and its cookie
// (SO_NETNS_COOKIE, socket(7)), which unlike the inode is never reused. The cookie is 0 before
// Linux 5.14.
type NetNS struct {
	Inode  uint64 `json:"inode"`
	Cookie uint64 `json:"cookie,omitempty"`
}

// Equal reports whether both are the same namespace. It compares the cookies if both are known.
func (n NetNS) Equal(other NetNS) bool {
	if n.Cookie != 0 && other.Cookie != 0 {
		return n.Cookie == other.Cookie
	}
	return n.Inode == other.Inode
}

func (n NetNS) String() string { return fmt.Sprintf("net:[%d]", n.Inode) }
