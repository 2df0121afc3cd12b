//go:build !linux

package sock

import "os"

// SocketPair returns an error: it connects a lab to its agents, and labs need Linux.
func SocketPair() (near, far *os.File, err error) { return nil, nil, onlyLinux("a pair of sockets") }
