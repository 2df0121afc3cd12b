// Package kernel and the packages below it are the only place for raw system
// calls, netlink, and the roots of /proc and /sys. Packages above see plain values
// and errors that carry the operation, the object and the kernel's own text.
//
//   - netlink: links, addresses, neighbours, routes, rules, nexthops, qdiscs,
//     interface counters, socket diagnostics, network namespaces
//   - sock: options, buffers, TCP_INFO and system calls of sockets, epoll
//   - proc: /proc and sysctl
//   - ethtool: drivers, links, rings, queues and interrupts of NICs
//   - drops: packets that the kernel drops, by reason
//   - sched: clocks, timers, CPU affinity and scheduling of threads
//   - file: locks, directories, pseudoterminals
//
// None of them decides what is allowed or how it is undone: that is internal/host.
package kernel
