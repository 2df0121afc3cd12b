//go:build !portable

package netlink

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/unit"
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

// Attributes of TCA_STATS2 (linux/gen_stats.h) and of the qdiscs' options
// (linux/pkt_sched.h).
const (
	statsBasic     = 1 // bytes (uint64), packets (uint32)
	statsQueue     = 3 // qlen, backlog, drops, requeues, overlimits (uint32)
	statsPackets64 = 8

	tbfParameters  = 1
	tbfRate64      = 4
	tbfBurst       = 6
	netemReorder   = 3  // TCA_NETEM_REORDER
	netemRate      = 6  // TCA_NETEM_RATE
	netemLatency64 = 10 // TCA_NETEM_LATENCY64
	netemJitter64  = 11 // TCA_NETEM_JITTER64
	fqLimit        = 1
	fqCodelLimit   = 2
)

// Qdiscs lists the qdiscs of the interfaces in names, which maps their indices to names,
// with counters; nil: of all interfaces.
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
	q := Qdisc{
		Interface: names[indexOf(body)],
		Handle:    native.Uint32(body[8:]),
		Parent:    native.Uint32(body[12:]),
	}
	for a := range attributes(body[tcmsgLen:]) {
		switch a.kind {
		case unix.TCA_KIND:
			q.Kind = cString(a.data)
		case unix.TCA_OPTIONS:
			q.Options = slices.Clone(a.data)
		case unix.TCA_STATS2:
			q.readStats(a.data)
		}
	}
	return q
}

func (q *Qdisc) readStats(b []byte) {
	for s := range attributes(b) {
		switch {
		case s.kind == statsBasic && len(s.data) >= 12:
			q.Bytes = native.Uint64(s.data)
			// 32 bits; the 64-bit count is an attribute of its own.
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
	filters, err := list(c, "list filters of "+name, unix.RTM_GETTFILTER, unix.RTM_NEWTFILTER, tcmsgLen, [][]byte{tcmsg(index, 0, handle)},
		each(func([]byte) struct{} { return struct{}{} }))
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) {
		return false, nil // this kind of qdisc takes no filters
	}
	return len(filters) > 0, err
}

// ReplaceRootQdisc sets an interface's root qdisc. The error wraps ENOENT if the kernel
// has no qdisc of that kind.
func (c *Conn) ReplaceRootQdisc(name string, s QdiscSpec) error {
	return c.setQdisc("replace qdisc of", name, qdiscRoot, flagsReplace, s)
}

// RestoreRootQdisc sets an interface's root qdisc with the Options of a Qdisc that
// was listed.
func (c *Conn) RestoreRootQdisc(name, kind string, handle uint32, options []byte) error {
	return c.sendQdisc("replace qdisc of", name, kind, qdiscRoot, handle, flagsReplace, options)
}

// setQdisc makes a qdisc as the root, or as the child of another one's class.
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
		body = appendAttribute(body, unix.TCA_OPTIONS, options)
	}
	err = c.request(op, name+": "+kind, unix.RTM_NEWQDISC, flags, body, nil)
	if errors.Is(err, syscall.ENOENT) {
		return &kernel.Error{Op: "make the " + kind + " qdisc of", Object: name, Err: noQdisc(kind)}
	}
	return err
}

// noQdisc is ENOENT for a qdisc of that kind: it names the missing module.
type noQdisc string

func (k noQdisc) Error() string {
	return fmt.Sprintf("this kernel has no %s qdisc (CONFIG_NET_SCH_%s, module sch_%[1]s)", string(k), strings.ToUpper(string(k)))
}

func (noQdisc) Unwrap() error { return syscall.ENOENT }

// HasNetem probes for the netem qdisc by setting it on lo for a moment; call it in an
// otherwise unused network namespace. nil: supported; ENOENT: not supported; any other
// error: unknown.
func (c *Conn) HasNetem() error {
	err := c.ReplaceRootQdisc("lo", QdiscSpec{Kind: "netem", Handle: 1 << 16, Limit: 1000})
	if err != nil {
		return err
	}
	return c.DeleteRootQdisc("lo")
}

// DeleteRootQdisc deletes an interface's root qdisc; the kernel's default takes its
// place. It is no error if the interface has only the default.
func (c *Conn) DeleteRootQdisc(name string) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	return c.remove("delete qdisc of", name, unix.RTM_DELQDISC, tcmsg(index, 0, qdiscRoot))
}

func (s QdiscSpec) options() ([]byte, error) {
	switch s.Kind {
	case "pfifo", "bfifo":
		if s.Limit == 0 {
			return nil, nil
		}
		return native.AppendUint32(nil, s.Limit), nil // struct tc_fifo_qopt
	case "fq":
		return limitOption(fqLimit, s.Limit), nil
	case "fq_codel":
		return limitOption(fqCodelLimit, s.Limit), nil
	case "tbf":
		return s.tbfOptions()
	case "netem":
		return s.netemOptions(), nil
	}
	return nil, errors.New(s.Kind + " is not one of pfifo, bfifo, tbf, fq, fq_codel")
}

func limitOption(kind uint16, limit uint32) []byte {
	if limit == 0 {
		return nil
	}
	return appendUint32(nil, kind, limit)
}

// tbfOptions is struct tc_tbf_qopt: two struct tc_ratespec, limit, buffer and
// mtu in scheduler ticks. The rate's link layer is given so that the kernel
// needs no rate table; the bucket is given in bytes (TCA_TBF_BURST), from which
// it computes the ticks itself.
func (s QdiscSpec) tbfOptions() ([]byte, error) {
	rate, burst := uint64(s.Rate/8), uint64(s.Burst)
	if rate == 0 || burst == 0 || s.Limit == 0 {
		return nil, errors.New("tbf needs a rate, a burst and a limit")
	}
	if burst > math.MaxUint32 {
		return nil, errors.New("tbf's burst is at most 4 GiB")
	}
	const linkLayerEthernet = 1
	parameters := []byte{0, linkLayerEthernet, 0, 0, 0, 0, 0, 0} // cell_log, link layer, overhead, cell_align, mpu
	parameters = native.AppendUint32(parameters, uint32(min(rate, math.MaxUint32)))
	parameters = append(parameters, make([]byte, 12)...) // no peak rate
	parameters = native.AppendUint32(parameters, s.Limit)
	parameters = native.AppendUint32(parameters, uint32(min(math.Ceil(float64(burst)/float64(rate)*1e9/psched()), math.MaxUint32)))
	parameters = native.AppendUint32(parameters, 0)
	options := appendAttribute(nil, tbfParameters, parameters)
	if rate > math.MaxUint32 {
		options = appendUint64(options, tbfRate64, rate)
	}
	return appendUint32(options, tbfBurst, uint32(burst)), nil
}

// netemOptions is struct tc_netem_qopt (latency, limit, loss, gap, duplicate,
// jitter) and the 64-bit latency and jitter, which newer kernels prefer.
func (s QdiscSpec) netemOptions() []byte {
	ticks := func(d unit.Duration) uint32 { return uint32(min(float64(d)/psched(), math.MaxUint32)) }
	probability := func(share unit.Ratio) uint32 { return uint32(share * math.MaxUint32) }
	gap := uint32(0)
	if s.Reorder > 0 {
		gap = 1 // every packet may overtake
	}
	options := native.AppendUint32(nil, ticks(s.Delay))
	options = native.AppendUint32(options, s.Limit)
	options = native.AppendUint32(options, probability(s.Loss))
	options = native.AppendUint32(options, gap)
	options = native.AppendUint32(options, 0)
	options = native.AppendUint32(options, ticks(s.Jitter))
	if s.Reorder > 0 { // struct tc_netem_reorder: probability, correlation
		options = appendAttribute(options, netemReorder, native.AppendUint32(native.AppendUint32(nil, probability(s.Reorder)), 0))
	}
	if s.Jitter > 0 {
		// netem orders packets by the time at which each is due, unless it has a
		// rate: then none is due before the one in front of it
		// (net/sched/sch_netem.c, netem_enqueue). 32 Gbit/s delays nothing.
		// struct tc_netem_rate: rate, packet_overhead, cell_size, cell_overhead.
		options = appendAttribute(options, netemRate, append(native.AppendUint32(nil, 4e9), make([]byte, 12)...))
	}
	options = appendUint64(options, netemLatency64, uint64(s.Delay))
	if s.Jitter > 0 {
		options = appendUint64(options, netemJitter64, uint64(s.Jitter))
	}
	return options
}

// psched returns the length of the packet scheduler's tick in nanoseconds: in
// /proc/net/psched the first hexadecimal number divided by the second is the number of
// ticks per microsecond. A tick is 64 ns since Linux 2.6.31.
func psched() float64 {
	text, err := os.ReadFile("/proc/net/psched")
	if fields := strings.Fields(string(text)); err == nil && len(fields) >= 2 {
		a, errA := strconv.ParseUint(fields[0], 16, 32)
		b, errB := strconv.ParseUint(fields[1], 16, 32)
		if errA == nil && errB == nil && a > 0 && b > 0 {
			return 1000 * float64(b) / float64(a)
		}
	}
	return 64
}

// Spec decodes the options. Those of netem are not decoded.
func (q Qdisc) Spec() QdiscSpec {
	s := QdiscSpec{Kind: q.Kind, Handle: q.Handle}
	switch q.Kind {
	case "pfifo", "bfifo":
		if len(q.Options) >= 4 {
			s.Limit = native.Uint32(q.Options)
		}
	case "fq", "fq_codel":
		for a := range attributes(q.Options) {
			if a.kind == fqLimit && q.Kind == "fq" || a.kind == fqCodelLimit && q.Kind == "fq_codel" {
				s.Limit = a.uint32()
			}
		}
	case "tbf":
		rate, buffer := uint64(0), uint64(0)
		for a := range attributes(q.Options) {
			switch {
			case a.kind == tbfParameters && len(a.data) >= 36:
				rate = max(rate, uint64(native.Uint32(a.data[8:])))
				s.Limit = native.Uint32(a.data[24:])
				buffer = uint64(native.Uint32(a.data[28:]))
			case a.kind == tbfRate64:
				rate = a.uint64()
			}
		}
		s.Rate, s.Burst = unit.BitRate(rate*8), unit.Bytes(math.Round(float64(buffer)*psched()*float64(rate)/1e9))
	}
	return s
}
