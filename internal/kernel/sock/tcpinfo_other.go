//go:build !linux || portable

package sock

import "linerate/internal/model/record"

// TCPInfo reads TCP_INFO; on Linux only.
func TCPInfo(int) (record.TCPInfo, error) { return record.TCPInfo{}, onlyLinux("TCP_INFO") }
