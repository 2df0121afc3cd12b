//go:build !portable

package netlink

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/setting"
)

// struct tcmsg: family, 3 bytes of padding, index, handle, parent, info.
const tcmsgLen = 20

func tcmsg(index int, handle, parent uint32) []byte {
	b := make([]byte, 4, 128)
	b = native.AppendUint32(b, uint32(index))
	b = native.AppendUint32(b, handle)
	b = native.AppendUint32(b, parent)
	return native.AppendUint32(b, 0)
}

// Attributes of TCA_STATS2 (linux/gen_stats.h).
const (
	statsBasic     = 1 // bytes (uint64), packets (uint32)
	statsQueue     = 3 // qlen, backlog, drops, requeues, overlimits (uint32)
	statsPackets64 = 8
)

// Qdiscs lists the qdiscs of the interfaces in names, which maps their indices to names, with
// counters. Nil: of all interfaces.
func (c *Conn) Qdiscs(names map[int]string) (_ []Qdisc, err error) {
	if names == nil {
		if names, err = c.names(); err != nil {
			return nil, err
		}
	}
	return list(c, "list qdiscs", unix.RTM_GETQDISC, unix.RTM_NEWQDISC, tcmsgLen, [][]byte{tcmsg(0, 0, 0)},
		func(body []byte, _ int64) (Qdisc, bool) {
			q := parseQdisc(body, names)
			return q, q.Interface != ""
		})
}

func parseQdisc(body []byte, names map[int]string) Qdisc {
	a := byKind(body[tcmsgLen:])
	_, sized := a[unix.TCA_STAB]
	q := Qdisc{
		Interface: names[indexOf(body)],
		Handle:    native.Uint32(body[8:]),
		Parent:    native.Uint32(body[12:]),
		Kind:      cString(a[unix.TCA_KIND].data),
		Options:   slices.Clone(a[unix.TCA_OPTIONS].data),
		SizeTable: sized,
	}
	q.readStats(a[unix.TCA_STATS2].data)
	return q
}

func (q *Qdisc) readStats(b []byte) {
	for s := range attributes(b) {
		switch {
		case s.kind == statsBasic && len(s.data) >= 12:
			q.Bytes = native.Uint64(s.data)
			// This count has 32 bits; the 64-bit count is a separate attribute.
			q.Packets = max(q.Packets, uint64(native.Uint32(s.data[8:])))
		case s.kind == statsPackets64:
			q.Packets = s.uint64()
		case s.kind == statsQueue && len(s.data) >= 20:
			q.Qlen = uint64(native.Uint32(s.data))
			q.Backlog = uint64(native.Uint32(s.data[4:]))
			q.Drops = uint64(native.Uint32(s.data[8:]))
			q.Requeues = uint64(native.Uint32(s.data[12:]))
			q.Overlimits = uint64(native.Uint32(s.data[16:]))
		}
	}
}

// HasFilters reports whether classifiers (tc-filter) are attached to a qdisc.
func (c *Conn) HasFilters(name string, handle uint32) (bool, error) {
	index, err := c.index(name)
	if err != nil {
		return false, err
	}
	filters, err := list(c, "list filters of "+name, unix.RTM_GETTFILTER, unix.RTM_NEWTFILTER, tcmsgLen,
		[][]byte{tcmsg(index, 0, handle)},
		each(func([]byte) struct{} { return struct{}{} }))
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) {
		return false, nil // this kind of qdisc does not support filters
	}
	return len(filters) > 0, err
}

// ReplaceQdisc sets an interface's root qdisc, or one inside another. The error wraps ENOENT if the
// kernel does not have this kind of qdisc.
func (c *Conn) ReplaceQdisc(name string, s QdiscSpec) error {
	return c.setQdisc("replace qdisc of", name, parentOr(s.Parent), flagsReplace, s)
}

// RestoreQdisc creates a qdisc again with the Options that were listed.
func (c *Conn) RestoreQdisc(name string, s QdiscSpec, options []byte) error {
	if restored := qdiscKinds[s.Kind].restored; restored != nil {
		options = restored(options)
	}
	return c.sendQdisc("replace qdisc of", name, s.Kind, parentOr(s.Parent), s.Handle, flagsReplace, options)
}

func parentOr(parent uint32) uint32 { return cmp.Or(parent, qdiscRoot) }

// RestoreLinkQueue gives a lab's link its original queue. Link is the root qdisc.
//
// Without an inner qdisc, a tbf drops all packets. Changing the tbf creates a bfifo with its limit
// (net/sched/sch_tbf.c, tbf_graft and tbf_change).
func (c *Conn) RestoreLinkQueue(link Qdisc) error {
	index, err := c.index(link.Interface)
	if err != nil {
		return err
	}
	if err := c.remove("delete qdisc of", link.Interface, unix.RTM_DELQDISC, tcmsg(index, 0, LinkQueue)); err != nil {
		return err
	}
	return c.RestoreQdisc(link.Interface, link.Spec(), link.Options)
}

// setQdisc creates a qdisc as the root, or in a class of another one.
func (c *Conn) setQdisc(op, name string, parent uint32, flags int, s QdiscSpec) error {
	options, err := s.options()
	if err != nil {
		return &kernel.Error{Op: op, Object: name, Err: syscall.EINVAL, Detail: err.Error()}
	}
	return c.sendQdisc(op, name, s.Kind, parent, s.Handle, flags, options)
}

func (c *Conn) sendQdisc(op, name, kind string, parent, handle uint32, flags int, options []byte) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	body := appendText(tcmsg(index, handle, parent), unix.TCA_KIND, kind)
	if len(options) > 0 {
		body = appendAttribute(body, unix.TCA_OPTIONS|qdiscKinds[kind].nested, options)
	}
	err = c.request(op, name+": "+kind, unix.RTM_NEWQDISC, flags, body, nil)
	if errors.Is(err, syscall.ENOENT) {
		return noQdisc(kind)
	}
	return err
}

// noQdisc is the error for a kind of qdisc. Its text names the missing module.
func noQdisc(kind string) error {
	return kernel.Lacking(fmt.Sprintf("this kernel has no %s qdisc (CONFIG_NET_SCH_%s, module sch_%[1]s)", kind,
		strings.ToUpper(kind)))
}

// HasNetem probes for the netem qdisc by setting it on lo for a moment. Call it in a network
// namespace that is not used otherwise. Nil: supported; ENOENT: not supported; any other error:
// unknown.
func (c *Conn) HasNetem() error {
	err := c.ReplaceQdisc("lo", QdiscSpec{Handle: 1 << 16, Qdisc: setting.Qdisc{Kind: "netem", Limit: 1000}})
	if err != nil {
		return err
	}
	return c.DeleteRootQdisc("lo")
}

// DeleteRootQdisc deletes an interface's root qdisc. The kernel replaces it by its default. It is
// no error if the interface only has the default.
func (c *Conn) DeleteRootQdisc(name string) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	return c.remove("delete qdisc of", name, unix.RTM_DELQDISC, tcmsg(index, 0, qdiscRoot))
}
