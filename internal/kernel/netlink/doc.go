// Package netlink implements route netlink (rtnetlink(7)), socket diagnostics (sock_diag(7)) and
// packet sockets, reads nf_tables (docs/decisions/0038-own-reading-of-nftables.md), and creates
// network namespaces and the virtual links between them.
//
// A Conn is one socket that stays open. It replaces a library for three reasons
// (docs/decisions/0016-own-netlink.md): reading counters must take only microseconds and say when
// each part of a dump was filled; undo needs the kernel's objects verbatim (Object), with
// attributes that no library models; and errors must carry the kernel's extended acknowledgement.
//
// On systems other than Linux every call returns an error that wraps errors.ErrUnsupported.
//
// References: rtnetlink(7), Documentation/userspace-api/netlink.
package netlink
