package netlink

import (
	"errors"
	"fmt"
	"math"
	"os"
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

// Qdiscs lists the qdiscs of all interfaces with their counters.
func (c *Conn) Qdiscs() ([]Qdisc, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	return c.QdiscsOf(names)
}

// QdiscsOf is Qdiscs with the names of the interfaces by index already known.
func (c *Conn) QdiscsOf(names map[int]string) ([]Qdisc, error) {
	var list []Qdisc
	err := c.dump("list qdiscs", unix.RTM_GETQDISC, tcmsg(0, 0, 0), func() { list = nil },
		func(kind uint16, body []byte, _ int64) error {
			if kind == unix.RTM_NEWQDISC && len(body) >= tcmsgLen {
				if q := parseQdisc(body, names); q.Interface != "" {
					list = append(list, q)
				}
			}
			return nil
		})
	return list, err
}

func parseQdisc(body []byte, names map[int]string) Qdisc {
	q := Qdisc{
		Interface: names[int(int32(native.Uint32(body[4:])))],
		Handle:    native.Uint32(body[8:]),
		Parent:    native.Uint32(body[12:]),
	}
	for a := range attributes(body[tcmsgLen:]) {
		switch a.kind {
		case unix.TCA_KIND:
			q.Kind = cString(a.data)
		case unix.TCA_OPTIONS:
			q.Options = append([]byte(nil), a.data...)
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
	found := false
	err = c.dump("list filters of", unix.RTM_GETTFILTER, tcmsg(index, 0, handle), nil,
		func(kind uint16, _ []byte, _ int64) error {
			found = found || kind == unix.RTM_NEWTFILTER
			return nil
		})
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) {
		return false, nil // this kind of qdisc takes no filters
	}
	return found, err
}

// ReplaceRootQdisc sets an interface's root qdisc.
func (c *Conn) ReplaceRootQdisc(name string, s QdiscSpec) error {
	options, err := s.options()
	if err != nil {
		return &kernel.Error{Op: "replace qdisc of", Object: name, Err: syscall.EINVAL, Detail: err.Error()}
	}
	return c.RestoreRootQdisc(name, s.Kind, s.Handle, options)
}

// RestoreRootQdisc sets an interface's root qdisc with the Options of a Qdisc that
// was listed.
func (c *Conn) RestoreRootQdisc(name, kind string, handle uint32, options []byte) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	body := appendText(tcmsg(index, handle, QdiscRoot), unix.TCA_KIND, kind)
	if len(options) > 0 {
		body = appendAttribute(body, unix.TCA_OPTIONS, options)
	}
	err = c.request("replace qdisc of", name+" by "+kind, unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, body, nil)
	return missingQdisc(err, name, kind)
}

// noQdisc is ENOENT as the error of making a qdisc of that kind.
type noQdisc string

func (k noQdisc) Error() string {
	return fmt.Sprintf("this kernel has no %s qdisc (CONFIG_NET_SCH_%s, module sch_%[1]s)", string(k), strings.ToUpper(string(k)))
}

func (noQdisc) Unwrap() error { return syscall.ENOENT }

// HasNetem probes for the netem qdisc by setting it on lo for a moment: to be
// called in an otherwise unused network namespace. nil: supported; ENOENT: not
// supported; any other error: unknown.
func (c *Conn) HasNetem() error {
	err := c.ReplaceRootQdisc("lo", QdiscSpec{Kind: "netem", Handle: 1 << 16, Limit: 1000})
	if err != nil {
		return err
	}
	return c.DeleteRootQdisc("lo")
}

// missingQdisc replaces ENOENT by an error that names the missing module.
func missingQdisc(err error, name, kind string) error {
	if errors.Is(err, syscall.ENOENT) {
		return &kernel.Error{Op: "make the " + kind + " qdisc of", Object: name, Err: noQdisc(kind)}
	}
	return err
}

// addQdisc adds a qdisc as the root, or as the child of another one's class.
func (c *Conn) addQdisc(name string, parent uint32, s QdiscSpec) error {
	options, err := s.options()
	if err != nil {
		return &kernel.Error{Op: "add qdisc to", Object: name, Err: syscall.EINVAL, Detail: err.Error()}
	}
	index, err := c.index(name)
	if err != nil {
		return err
	}
	body := appendText(tcmsg(index, s.Handle, parent), unix.TCA_KIND, s.Kind)
	body = appendAttribute(body, unix.TCA_OPTIONS, options)
	err = c.request("add qdisc to", name+": "+s.Kind, unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body, nil)
	return missingQdisc(err, name, s.Kind)
}

// DeleteRootQdisc deletes an interface's root qdisc; the kernel's default takes its
// place. It is no error if the interface has only the default.
func (c *Conn) DeleteRootQdisc(name string) error {
	index, err := c.index(name)
	if err != nil {
		return err
	}
	err = c.request("delete qdisc of", name, unix.RTM_DELQDISC, 0, tcmsg(index, 0, QdiscRoot), nil)
	if kernel.IsAbsent(err) {
		return nil
	}
	return err
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
	parameters = native.AppendUint32(parameters, uint32(min(psched().ticks(rate, burst), math.MaxUint32)))
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
	ticks := func(d unit.Duration) uint32 { return uint32(min(float64(d)/float64(psched()), math.MaxUint32)) }
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

// clock is the packet scheduler's, in nanoseconds per tick.
type clock float64

func (c clock) ticks(rate, bytes uint64) uint64 {
	return uint64(math.Ceil(float64(bytes) / float64(rate) * 1e9 / float64(c)))
}

func (c clock) bytes(rate, ticks uint64) uint64 {
	return uint64(math.Round(float64(ticks) * float64(c) * float64(rate) / 1e9))
}

// psched reads /proc/net/psched: the first hexadecimal number divided by the second
// is the number of ticks per microsecond. A tick is 64 ns since Linux 2.6.31.
func psched() clock {
	text, err := os.ReadFile("/proc/net/psched")
	if fields := strings.Fields(string(text)); err == nil && len(fields) >= 2 {
		a, errA := strconv.ParseUint(fields[0], 16, 32)
		b, errB := strconv.ParseUint(fields[1], 16, 32)
		if errA == nil && errB == nil && a > 0 && b > 0 {
			return clock(1000 * float64(b) / float64(a))
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
		s.Rate, s.Burst = unit.BitRate(rate*8), unit.Bytes(psched().bytes(rate, buffer))
	}
	return s
}
