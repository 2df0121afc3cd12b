package record

// Opening is how the connections of a trial were opened, where there are very many.
type Opening struct {
	// TookS is the time from the first of them until all were open at both ends, or one had
	// failed.
	TookS float64 `json:"took_s"`
	// Before is the kernel's memory on each machine of the flows' hosts before they were opened,
	// and After behind the window, while they were open. Hosts of a lab are on one machine.
	Before []HostMemory `json:"before,omitempty"`
	After  []HostMemory `json:"after,omitempty"`
}

// OpenedFewer says that a flow could not be opened whole, although its opener reaches the
// acceptor: some of its connections were opened, or nothing was left for them.
func (f *Flow) OpenedFewer() bool {
	some := f.Exhausted != nil || f.NoDescriptors != nil || f.Transactions != nil && f.Transactions.Opened > 0
	return !f.Connected && some
}

// HostMemory is the kernel's memory on the machine of a host.
type HostMemory struct {
	Host string `json:"host"`
	KernelMemory
}

// KernelMemory is what the kernel's objects take on a machine.
type KernelMemory struct {
	// SlabBytes are all of them (Slab of /proc/meminfo), also those that the kernel keeps for
	// reuse.
	SlabBytes int64 `json:"slab_bytes"`
	// SocketBytes are those in use that connections of TCP have, with other files (/proc/slabinfo:
	// TCP, sock_inode_cache, filp, eventpoll_epi and others); 0: that was not permitted.
	SocketBytes int64 `json:"socket_bytes,omitempty"`
}

// KernelBytes is how much more the kernel's objects took with the connections open than before:
// those of sockets, where that is known of all machines, or all. False: that was not read.
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
