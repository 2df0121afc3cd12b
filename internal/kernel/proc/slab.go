package proc

import (
	"errors"
	"slices"

	"github.com/prometheus/procfs"

	"linerate/internal/model/record"
)

// socketCaches are the kernel's slab caches with the objects of a TCP connection: its socket, port, inode, file
// and epoll entry. Dentries are missing because all files share their cache.
var socketCaches = []string{"TCP", "TCPv6", "request_sock_TCP", "request_sock_TCPv6", "tcp_bind_bucket",
	"tcp_bind2_bucket", "sock_inode_cache", "filp", "eventpoll_epi"}

// KernelMemory returns the memory of the kernel's objects; those of connections come from /proc/slabinfo, which
// only root may read.
func (p Proc) KernelMemory() (record.KernelMemory, error) {
	memory, err := by(p.path(""), procfs.FS.Meminfo)
	if err != nil {
		return record.KernelMemory{}, err
	}
	if memory.SlabBytes == nil {
		return record.KernelMemory{}, errors.New("expected Slab in meminfo")
	}
	m := record.KernelMemory{SlabBytes: int64(*memory.SlabBytes)}
	if caches, err := by(p.path(""), procfs.FS.SlabInfo); err == nil {
		for _, c := range caches.Slabs {
			if slices.Contains(socketCaches, c.Name) {
				m.SocketBytes += c.ObjActive * c.ObjSize
			}
		}
	}
	return m, nil
}
