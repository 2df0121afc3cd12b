// Package kernel is the only place for raw system calls, netlink and the roots
// of /proc and /sys. Packages above it see plain values and errors that carry
// the operation, the object and the kernel's own words.
//
// It has no opinion: it reads and changes what it is told to. What a change
// means, whether it is allowed and how it is undone is for internal/host.
//
// Route netlink is spoken directly on one socket that stays open (Conn), for
// three reasons a wrapping library does not serve: a counter reading must cost
// microseconds and say when each chunk of a dump was filled; undo needs kernel
// objects verbatim (Object), with attributes that no library models; and
// refusals should carry the kernel's extended acknowledgement. Namespaces and
// virtual links are made through github.com/vishvananda/netlink, where nothing
// is measured and nothing needs restoring.
//
// References: rtnetlink(7), proc(5), linux/Documentation/userspace-api/netlink.
package kernel
