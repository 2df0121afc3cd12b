// Package kernel and the packages below it are the only ones that use raw system calls,
// netlink, or the roots of /proc and /sys. Packages above see plain values, and errors
// with the operation, the object and the kernel's own text.
//
//   - netlink: links, addresses, neighbours, routes, rules, nexthops, qdiscs,
//     interface counters, socket diagnostics, network namespaces
//   - sock: options, buffers, TCP_INFO and system calls of sockets, epoll
//   - proc: /proc and sysctl
//   - ethtool: drivers, links, rings, queues and interrupts of NICs
//   - drops: packets that the kernel drops, by reason
//   - packet: whole Ethernet frames, sent and received
//   - xdp: programs that handle packets in the driver
//   - sched: clocks, timers, CPU affinity and scheduling of threads
//   - file: locks, directories, pseudoterminals
//
// None of them decides what is permitted or how it is undone: internal/host does.
package kernel
