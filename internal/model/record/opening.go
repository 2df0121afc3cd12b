package record

// Opening describes how a trial with very many connections opened them.
type Opening struct {
	// TookS is the time from the first connection until all were open at both ends, or one had
	// failed.
	TookS float64 `json:"took_s"`
	// Before and After are the kernel's memory on the machine of each host before connections were
	// opened and after the window, while they were open. The hosts of a lab share a machine.
	Before []HostMemory `json:"before,omitempty"`
	After  []HostMemory `json:"after,omitempty"`
}

// OpenedFewer reports whether some connections of a flow could not be opened although the other end
// is reachable: others were opened, or ports or descriptors were exhausted.
func (f *Flow) OpenedFewer() bool {
	some := f.Exhausted != nil || f.NoDescriptors != nil || f.Transactions != nil && f.Transactions.Opened > 0
	return !f.Connected && some
}

// HostMemory is the kernel's memory on the machine of a host.
type HostMemory struct {
	Host string `json:"host"`
	KernelMemory
}

// KernelMemory is the memory of the kernel's objects on a machine.
type KernelMemory struct {
	// SlabBytes is the memory of all objects (Slab of /proc/meminfo), including those that the
	// kernel keeps for reuse.
	SlabBytes int64 `json:"slab_bytes"`
	// SocketBytes is the memory in use for TCP connections, and for other files that use the same
	// caches (/proc/slabinfo: TCP, sock_inode_cache, filp, eventpoll_epi and others). 0: no
	// permission to read it.
	SocketBytes int64 `json:"socket_bytes,omitempty"`
}

// KernelBytes returns the increase of the kernel's memory while the connections were open: that of
// sockets if known for all machines, otherwise that of all objects. Known is false if neither was
// read.
func (o *Opening) KernelBytes() (bytes int64, known bool) {
	if o == nil || len(o.Before) == 0 || len(o.Before) != len(o.After) {
		return 0, false
	}
	var sockets, all int64
	bySocket := true
	for i, before := range o.Before {
		after := o.After[i]
		if after.Host != before.Host {
			return 0, false
		}
		bySocket = bySocket && before.SocketBytes > 0 && after.SocketBytes > 0
		sockets, all = sockets+after.SocketBytes-before.SocketBytes, all+after.SlabBytes-before.SlabBytes
	}
	if bySocket {
		return sockets, true
	}
	return all, true
}
