//go:build !portable

package netlink

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// Attributes of the qdiscs' options (linux/pkt_sched.h).
const (
	tbfParameters  = 1
	tbfRate64      = 4
	tbfBurst       = 6
	netemReorder   = 3  // TCA_NETEM_REORDER
	netemCorrupt   = 4  // TCA_NETEM_CORRUPT
	netemRate      = 6  // TCA_NETEM_RATE
	netemLatency64 = 10 // TCA_NETEM_LATENCY64
	netemJitter64  = 11 // TCA_NETEM_JITTER64
	fqLimit        = 1
	codelTarget    = 1 // of codel and of fq_codel, as are limit, interval and ECN
	codelLimit     = 2
	codelInterval  = 3
	codelECN       = 4
	cakeNAT        = 11
	redParameters  = 1
	redIdle        = 2
	redProbability = 3
	etsBands       = 1
	etsStrict      = 2
	etsQuanta      = 3
	etsQuantum     = 4
)

// qdiscKind encodes the options of a kind in setting.QdiscKinds for the kernel.
type qdiscKind struct {
	options func(setting.Qdisc) ([]byte, error)
	read    func(options []byte, into *setting.Qdisc)
	// restored converts options that the kernel reported to those that create the same qdisc. Nil:
	// they are the same.
	restored func(options []byte) []byte
	// nested is NLA_F_NESTED if the kernel requires it.
	nested uint16
}

var qdiscKinds = map[string]qdiscKind{
	"pfifo": {options: fifoOptions, read: readFIFO},
	"bfifo": {options: fifoOptions, read: readFIFO},
	"tbf":   {options: tbfOptions, read: readTBF},
	"fq":    {options: fqOptions, read: readFQ},
	"codel": {options: codelOptions, read: readCodel, restored: func(options []byte) []byte {
		return restoredCodel(options, codelCEThreshold)
	}},
	"fq_codel": {options: codelOptions, read: readCodel, restored: func(options []byte) []byte {
		return restoredCodel(options, fqCodelCEThreshold)
	}},
	"cake": {options: cakeOptions, read: readCake, restored: restoredCake},
	"sfq":  {options: sfqOptions, read: readSFQ},
	"red":  {options: redOptions, read: readRED},
	"ets":  {options: etsOptions, read: readETS, nested: unix.NLA_F_NESTED},
}

func (s QdiscSpec) options() ([]byte, error) {
	if s.Kind == "netem" {
		return s.netemOptions(), nil
	}
	kind, ok := qdiscKinds[s.Kind]
	if !ok {
		return nil, fmt.Errorf("no options are known of a qdisc of kind %q", s.Kind)
	}
	return kind.options(s.Qdisc)
}

// Spec decodes the options of a kind that a setting can create. Those of other kinds are empty.
func (q Qdisc) Spec() QdiscSpec {
	s := QdiscSpec{Handle: q.Handle, Qdisc: setting.Qdisc{Kind: q.Kind}, SizeTable: q.SizeTable}
	if !q.IsRoot() {
		s.Parent = q.Parent
	}
	if kind, ok := qdiscKinds[q.Kind]; ok {
		kind.read(q.Options, &s.Qdisc)
	}
	return s
}

// fifoOptions encodes struct tc_fifo_qopt.
func fifoOptions(s setting.Qdisc) ([]byte, error) {
	if s.Limit == 0 {
		return nil, nil
	}
	return native.AppendUint32(nil, uint32(s.Limit)), nil
}

func readFIFO(b []byte, s *setting.Qdisc) {
	if len(b) >= 4 {
		s.Limit = int(native.Uint32(b))
	}
}

// tbfOptions encodes struct tc_tbf_qopt: two struct tc_ratespec, then limit, buffer and mtu in
// scheduler ticks. The link layer of the rate is set so that the kernel needs no rate table. The
// bucket is given in bytes (TCA_TBF_BURST), from which the kernel computes the ticks.
func tbfOptions(s setting.Qdisc) ([]byte, error) {
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
	parameters = native.AppendUint32(parameters, uint32(s.Limit))
	parameters = native.AppendUint32(parameters,
		uint32(min(math.Ceil(float64(burst)/float64(rate)*1e9/psched()), math.MaxUint32)))
	parameters = native.AppendUint32(parameters, 0)
	options := appendAttribute(nil, tbfParameters, parameters)
	if rate > math.MaxUint32 {
		options = appendUint64(options, tbfRate64, rate)
	}
	return appendUint32(options, tbfBurst, uint32(burst)), nil
}

func readTBF(b []byte, s *setting.Qdisc) {
	rate, buffer := uint64(0), uint64(0)
	for a := range attributes(b) {
		switch {
		case a.kind == tbfParameters && len(a.data) >= 36:
			rate = max(rate, uint64(native.Uint32(a.data[8:])))
			s.Limit = int(native.Uint32(a.data[24:]))
			buffer = uint64(native.Uint32(a.data[28:]))
		case a.kind == tbfRate64:
			rate = a.uint64()
		}
	}
	s.Rate, s.Burst = unit.BitRate(rate*8), unit.Bytes(math.Round(float64(buffer)*psched()*float64(rate)/1e9))
}

// appendGiven appends a 32-bit attribute unless the value is 0.
func appendGiven(b []byte, kind uint16, value int) []byte {
	if value == 0 {
		return b
	}
	return appendUint32(b, kind, uint32(value))
}

func fqOptions(s setting.Qdisc) ([]byte, error) { return appendGiven(nil, fqLimit, s.Limit), nil }

func readFQ(b []byte, s *setting.Qdisc) {
	s.Limit = int(within(b, fqLimit).uint32())
}

// codelOptions encodes the options of codel. Times are in microseconds.
func codelOptions(s setting.Qdisc) ([]byte, error) {
	b := appendGiven(nil, codelTarget, int(s.Target/1e3))
	b = appendGiven(b, codelLimit, s.Limit)
	b = appendGiven(b, codelInterval, int(s.Interval/1e3))
	if s.ECN != nil {
		b = appendUint32(b, codelECN, map[bool]uint32{true: 1}[*s.ECN])
	}
	return b, nil
}

func readCodel(b []byte, s *setting.Qdisc) {
	a := byKind(b)
	s.Target, s.Limit = unit.Duration(a[codelTarget].uint32())*1e3, int(a[codelLimit].uint32())
	s.Interval = unit.Duration(a[codelInterval].uint32()) * 1e3
	if mark, has := a[codelECN]; has {
		ecn := mark.uint32() != 0
		s.ECN = &ecn
	}
}

// Attributes of the delay from which codel and fq_codel mark every packet; absent by default.
const (
	codelCEThreshold   = 5
	fqCodelCEThreshold = 7
)

// restoredCodel corrects rounding: codel stores times in units of 1024 ns, and rounds down both the
// given and the reported values (net/sched/sch_codel.c). One microsecond more than reported gives
// the stored value.
func restoredCodel(options []byte, threshold uint16) (b []byte) {
	for a := range attributes(options) {
		if (a.kind == codelTarget || a.kind == codelInterval || a.kind == threshold) && len(a.data) == 4 {
			b = appendUint32(b, a.kind, a.uint32()+1)
		} else {
			b = appendAttribute(b, a.kind, a.data)
		}
	}
	return b
}

func cakeOptions(s setting.Qdisc) ([]byte, error) {
	if s.Rate == 0 {
		return nil, nil
	}
	return appendUint64(nil, cakeRate64, uint64(s.Rate/8)), nil
}

func readCake(b []byte, s *setting.Qdisc) { s.Rate = cakeShape(b).Rate }

// restoredCake removes an option: a kernel without connection tracking reports that NAT lookup is
// off, and rejects that option (net/sched/sch_cake.c).
func restoredCake(options []byte) (b []byte) {
	for a := range attributes(options) {
		if a.kind != cakeNAT || a.uint32() != 0 {
			b = appendAttribute(b, a.kind, a.data)
		}
	}
	return b
}

// sfqOptions encodes struct tc_sfq_qopt: quantum, perturb_period in seconds, limit, divisor, flows.
func sfqOptions(s setting.Qdisc) ([]byte, error) {
	b := native.AppendUint32(nil, 0)
	b = native.AppendUint32(b, uint32(s.Perturb.Seconds()))
	b = native.AppendUint32(b, uint32(s.Limit))
	return append(b, make([]byte, 8)...), nil
}

func readSFQ(b []byte, s *setting.Qdisc) {
	if len(b) >= 20 {
		s.Perturb = unit.Duration(native.Uint32(b[4:])) * 1e9
		s.Limit = int(native.Uint32(b[8:]))
	}
}

// Defaults of tc-red(8): the mean packet size in bytes, and the rate in bytes per second that is
// assumed for idle times.
const (
	redPacket = 1000
	redRate   = 10e6 / 8
)

// redOptions encodes struct tc_red_qopt (limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags), a
// table for idle times, and the probability in units of 2^-32. The formulas are those of iproute2
// (tc/tc_red.c).
func redOptions(s setting.Qdisc) ([]byte, error) {
	low, high := s.Thresholds()
	probability := float64(cmp.Or(s.Probability, 0.02))
	burst := (2*low + high) / (3 * redPacket)
	weight, ok := redWeight(low, burst)
	if !ok {
		return nil, fmt.Errorf("red: min %s and max %s are less than a few packets of %d bytes", low, high, redPacket)
	}
	scale := 0
	for p := probability / float64(high-low); p <= 1 && scale < 32; p *= 2 {
		scale++
	}
	cell, table := redIdleTable(weight)
	flags := byte(0)
	if s.ECN != nil && *s.ECN {
		flags = 1 // TC_RED_ECN
	}
	parameters := native.AppendUint32(nil, uint32(s.Limit))
	parameters = native.AppendUint32(parameters, uint32(low))
	parameters = native.AppendUint32(parameters, uint32(high))
	parameters = append(parameters, byte(weight), byte(scale), byte(cell), flags)
	b := appendAttribute(nil, redParameters, parameters)
	b = appendAttribute(b, redIdle, table)
	return appendUint32(b, redProbability, uint32(probability*(1<<32))), nil
}

// redWeight returns the logarithm of the weight of the moving average at which a burst passes: the
// smallest W with burst + 1 - min/packet <= (1 - (1-2^-W)^burst) / 2^-W.
func redWeight(low, burst unit.Bytes) (int, bool) {
	most := float64(burst) + 1 - float64(low)/redPacket
	for log := 1; log < 32 && most >= 1; log++ {
		w := math.Ldexp(1, -log)
		if most <= (1-math.Pow(1-w, float64(burst)))/w {
			return log, true
		}
	}
	return 0, false
}

// redIdleTable returns the decrease of the average during idle times, and the logarithm of the time
// in ticks between entries of the table.
func redIdleTable(weight int) (cell int, table []byte) {
	const most = 31
	ticks := math.Trunc(redPacket / redRate * 1e9 / psched())
	per := -math.Log(1-math.Ldexp(1, -weight)) / ticks
	for cell < 31 && most/per/math.Ldexp(1, cell) >= 512 {
		cell++
	}
	table = make([]byte, 256)
	for i := range table {
		table[i] = byte(min(math.Ldexp(float64(i), cell)*per, most))
	}
	table[255] = most
	return cell, table
}

func readRED(b []byte, s *setting.Qdisc) {
	a := byKind(b)
	if p := a[redParameters].data; len(p) >= 16 {
		s.Limit = int(native.Uint32(p))
		s.Min, s.Max = unit.Bytes(native.Uint32(p[4:])), unit.Bytes(native.Uint32(p[8:]))
		ecn := p[15]&1 != 0
		s.ECN = &ecn
	}
	s.Probability = unit.Ratio(float64(a[redProbability].uint32()) / (1 << 32))
}

func etsOptions(s setting.Qdisc) ([]byte, error) {
	b := appendAttribute(nil, etsBands, []byte{byte(s.Bands)})
	if s.Strict > 0 {
		b = appendAttribute(b, etsStrict, []byte{byte(s.Strict)})
	}
	if len(s.Quanta) > 0 {
		var quanta []byte
		for _, q := range s.Quanta {
			quanta = appendUint32(quanta, etsQuantum, uint32(q))
		}
		b = appendAttribute(b, etsQuanta|unix.NLA_F_NESTED, quanta)
	}
	return b, nil
}

// readETS parses the options of ets. The kernel reports the quanta of all bands, including those
// that were not given.
func readETS(b []byte, s *setting.Qdisc) {
	a := byKind(b)
	s.Bands, s.Strict = a[etsBands].octet(), a[etsStrict].octet()
	for q := range attributes(a[etsQuanta].data) {
		s.Quanta = append(s.Quanta, unit.Bytes(q.uint32()))
	}
}

// psched returns the length of the packet scheduler's tick in nanoseconds. In /proc/net/psched, the
// first hexadecimal number divided by the second is the number of ticks per microsecond. A tick is
// 64 ns since Linux 2.6.31.
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
