package tuning

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
	"linerate/internal/science/tuning/known"
)

// manyBytes is larger than any size that is intended for the buffers of one protocol.
const manyBytes = 8 << 30

// anyOfInterfaces are the parameters of interfaces, many of which are switches.
const anyOfInterfaces = "net.ipv4.conf.*.*"

// find returns a parameter of the catalogue. In the catalogue * stands for the interface, and
// conf.*.* for all parameters of interfaces that accept any int. Nil: there is none.
func find(key string) *parameter {
	for _, key := range known.Keys(key) {
		if p := byKey()[key]; p != nil {
			return p
		}
	}
	return nil
}

// misleads reports whether lists set the parameter in the mistaken belief that TCP uses it.
func (p *parameter) misleads() bool {
	switch p.key {
	case "net.core.rmem_default", "net.core.wmem_default", "net.core.rmem_max", "net.core.wmem_max":
		return true
	}
	return false
}

// integer parses a number like the kernel: decimal, 0x… or 0….
func integer(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 0, 64)
	return n, err == nil && !strings.Contains(text, "_") && !strings.HasPrefix(text, "+")
}

func integers(text string) (list []int64, ok bool) {
	for word := range strings.FieldsSeq(text) {
		n, ok := integer(word)
		if !ok {
			return list, false
		}
		list = append(list, n)
	}
	return list, len(list) > 0
}

const (
	portRange         = "net.ipv4.ip_local_port_range"
	unprivilegedStart = "net.ipv4.ip_unprivileged_port_start"
)

// Beside returns the parameters whose values affect which values of key the kernel accepts.
func Beside(key string) []string {
	if table := strings.TrimSuffix(key, lastPart(key)); slices.Contains(thresholdKeys, lastPart(key)) {
		return []string{table + thresholdKeys[0], table + thresholdKeys[1], table + thresholdKeys[2]}
	}
	switch key {
	case portRange:
		return []string{unprivilegedStart}
	case reordering:
		return []string{mostReordering}
	}
	return nil
}

// unprivileged returns the first port that needs no privilege: the lowest value in the files, or
// the value of the kernel.
func (c *checker) unprivileged() int64 {
	var set []int64
	for _, f := range c.files {
		for _, l := range f.Lines {
			value, _ := l.Bare()
			if n, ok := integer(value); ok && l.Key == unprivilegedStart {
				set = append(set, n)
			}
		}
	}
	if len(set) > 0 {
		return slices.Min(set)
	}
	known, _ := c.ask(unprivilegedStart)
	if n, ok := integer(known.Value); ok {
		return n
	}
	return 1024
}

// takes returns the numbers of a line's value if the kernel accepts all that the parameter has.
// Otherwise it returns false. It adds findings about wrong numbers.
func (c *checker) takes(l settingfile.Line, p *parameter) (numbers []int64, ok bool) {
	if p.values == 0 {
		c.words(l, p)
		return nil, false
	}
	for word := range strings.FieldsSeq(l.Value) {
		n, ok := integer(word)
		if len(numbers) == p.values {
			// The kernel reads no further (do_proc_dointvec in kernel/sysctl.c): "2 hours" is 2.
			level, fix := record.LintWarning, ""
			if !ok {
				level, fix = record.LintError, meant(strings.ReplaceAll(l.Value, " "+word, word), p)
			}
			c.add(l, "ignored", level, fix, record.LintIgnored, spaced(numbers)+spelledUnit(p), word, p.values)
			if fix != "" {
				c.correct(l.Key, fix)
			}
			return numbers, false
		}
		if !ok {
			c.add(l, "refused", record.LintError, meant(l.Value, p), record.LintNumbers, p.values, word)
			if fix := meant(l.Value, p); len(strings.Fields(fix)) == p.values {
				c.correct(l.Key, fix)
			}
			return nil, false
		}
		if !p.takes(n, c.hz()) {
			c.outside(l, p, n)
			return nil, false
		}
		numbers = append(numbers, n)
	}
	switch {
	case p.key == portRange && len(numbers) == 2 &&
		numbers[0] > numbers[1]: // ipv4_local_port_range in net/ipv4/sysctl_net_ipv4.c
		swapped := spaced([]int64{numbers[1], numbers[0]})
		c.add(l, "refused", record.LintError, swapped, record.LintPorts, numbers[0], numbers[1])
		c.correct(l.Key, swapped)
		return nil, false
	case p.key == portRange && numbers[0] < c.unprivileged(): // the same function
		c.add(l, "refused", record.LintError, "", record.LintPrivileged, unprivilegedStart, c.unprivileged())
		return nil, false
	case len(numbers) < p.values:
		c.missing(l, p, numbers)
	case (p.key == reordering || p.key == mostReordering) && numbers[0] < 1:
		c.add(l, "refused", record.LintWarning, "", record.LintLessThanOne)
		return nil, false
	case p.key == reordering && numbers[0] > c.number(mostReordering, defaultMostReordering):
		c.add(l, "refused", record.LintWarning, "", record.LintMoreThan, mostReordering,
			c.number(mostReordering, defaultMostReordering))
		return nil, false
	case p.key == ecn && numbers[0] > mostClassicECN:
		c.add(l, "refused", record.LintWarning, "", record.LintAccECN, numbers[0], mostClassicECN)
		return nil, false
	}
	return numbers, len(numbers) == p.values
}

// Parameters whose range is another in some kernels (tcp_ecn_mode_max and tcp_max_reordering in
// net/ipv4/sysctl_net_ipv4.c).
const (
	ecn            = "net.ipv4.tcp_ecn"
	mostClassicECN = 2

	reordering            = "net.ipv4.tcp_reordering"
	mostReordering        = "net.ipv4.tcp_max_reordering"
	defaultMostReordering = 300
)

// missing adds a finding if a line has fewer values than the parameter. A single size that exceeds
// the values that stay unchanged was meant as the maximum.
func (c *checker) missing(l settingfile.Line, p *parameter, numbers []int64) {
	known, _ := c.ask(l.Key)
	now, _ := integers(known.Value)
	if len(now) != p.values || p.values != 3 || slices.Max(numbers) <= now[len(numbers)] {
		c.add(l, "missing", record.LintNote, "", record.LintFewer, p.values, len(numbers))
		return
	}
	fix := spaced(append(slices.Clone(now[:2]), max(now[1], slices.Max(numbers))))
	c.add(l, "order", record.LintWarning, fix, record.LintFewerOrder, p.values, len(numbers),
		spaced(append(slices.Clone(numbers), now[len(numbers):]...)))
	c.correct(l.Key, fix)
}

// number returns the value of a parameter: the one in the files, otherwise the kernel's, otherwise
// the default.
func (c *checker) number(key string, byDefault int64) int64 {
	for _, f := range c.files {
		for _, l := range f.Lines {
			value, _ := l.Bare()
			if n, ok := integer(value); ok && l.Key == key {
				byDefault = n
			}
		}
	}
	known, _ := c.ask(key)
	if n, ok := integer(known.Value); ok {
		return max(n, byDefault)
	}
	return byDefault
}

// spelledUnit returns the unit of a parameter that is a time. Empty: it is not a time.
func spelledUnit(p *parameter) string {
	if p.unit == "s" || p.unit == "µs" {
		return " " + p.unit
	}
	return ""
}

// DefaultQdisc is the parameter with the queueing discipline of new interfaces.
const DefaultQdisc = "net.core.default_qdisc"

// qdiscs are the queueing disciplines that kernels have or have had: the id of each Qdisc_ops in
// net/sched and, of loopback and the like, noqueue.
var qdiscs = []string{
	"atm", "bfifo", "blackhole", "cake", "cake_mq", "cbq", "cbs", "choke", "clsact", "codel", "drr", "dsmark",
	"dualpi2", "etf", "ets", "fq", "fq_codel", "fq_pie", "gred", "hfsc", "hhf", "htb", "ingress", "mq", "mqprio",
	"multiq", "netem", "noqueue", "pfifo", "pfifo_fast", "pfifo_head_drop", "pie", "plug", "prio", "qfq", "red",
	"sfb", "sfq", "skbprio", "taprio", "tbf", "teql0",
}

// words checks parameters whose value is a name.
func (c *checker) words(l settingfile.Line, p *parameter) {
	names, wrongCase := qdiscs, record.LintQdiscCase
	if known, _ := c.ask(l.Key); p.key == setting.CongestionControl && c.kernel != nil {
		names, wrongCase = c.kernel.Congestion, record.LintControlCase
	} else if p.key != DefaultQdisc || known.Value == l.Value {
		return
	}
	if built, asked := c.qdisc(l.Value); asked && !built && slices.Contains(names, l.Value) {
		c.add(l, "refused", record.LintError, "", record.LintNotBuilt, c.kernel.Release, l.Value)
		return
	}
	if len(names) == 0 || slices.Contains(names, l.Value) {
		return
	}
	i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, l.Value) })
	switch near := source.Nearest(l.Value, names); {
	case i >= 0:
		c.add(l, "refused", record.LintError, names[i], wrongCase, names[i])
		c.correct(l.Key, names[i])
	case p.key == setting.CongestionControl:
		c.add(l, "refused", record.LintWarning, "", record.LintControls, c.kernel.Release, strings.Join(names, ", "),
			l.Value)
	default: // qdisc_set_default in net/sched/sch_api.c
		c.add(l, "refused", record.LintWarning, near, record.LintQdisc, l.Value, near)
		c.correct(l.Key, near)
	}
}

// qdisc reports whether the kernel was built with a queueing discipline, if that is known.
func (c *checker) qdisc(name string) (built, known bool) {
	if c.kernel == nil {
		return false, false
	}
	built, known = c.kernel.Qdiscs[name]
	return built, known
}

// amount reports numbers of pages that were meant as bytes.
func (c *checker) amount(l settingfile.Line, p *parameter, numbers []int64) {
	if p.unit != pages {
		return
	}
	n := slices.Max(numbers)
	comes := n * c.page
	excess, like := "", c.likeBytes(numbers)
	switch {
	case comes/c.page != n:
		excess = record.ExcessAny
	case c.kernel != nil && c.kernel.MemoryBytes > 0 && comes > c.kernel.MemoryBytes:
		excess = size(c.kernel.MemoryBytes)
	case c.kernel == nil && comes >= manyBytes:
		excess = record.ExcessHardly
	}
	if excess == "" && like == "" {
		return
	}
	c.add(l, "unit", record.LintWarning, "", record.LintPages, size(c.page), n, size(comes), excess, like)
	bytes := each(numbers, func(n int64) int64 { return n / c.page })
	known, _ := c.ask(l.Key)
	now, _ := integers(known.Value)
	if len(now) == len(bytes) && slices.Max(bytes) < slices.Max(now) {
		c.advise(record.AdvicePages, "") // as many bytes as were meant would be less than the kernel has
		return
	}
	c.advise(record.AdvicePages, spaced(bytes))
	c.correct(l.Key, spaced(bytes))
}

// likeBytes names a parameter that counts bytes and is set to the same numbers.
func (c *checker) likeBytes(numbers []int64) string {
	if c.byteKeys == nil {
		c.byteKeys = map[string]string{}
		for _, f := range c.files {
			for _, l := range f.Lines {
				value, _ := l.Bare()
				n, ok := integers(value)
				if p := find(l.Key); ok && p != nil && p.unit == bytes && c.byteKeys[spaced(n)] == "" {
					c.byteKeys[spaced(n)] = l.Key
				}
			}
		}
	}
	return c.byteKeys[spaced(numbers)]
}

// sizes checks the three sizes of TCP's buffers against each other.
func (c *checker) sizes(l settingfile.Line, p *parameter, n []int64) {
	if p.values != 3 {
		return
	}
	switch {
	case n[0] > n[1] || n[1] > n[2]:
		c.add(l, "order", record.LintWarning, "", record.LintOrder, n[0], n[1], n[2])
		n = slices.Sorted(slices.Values(n))
		c.correct(l.Key, spaced(n))
	case p.unit == bytes && n[1] == n[2]:
		c.add(l, "autotuning-off", record.LintWarning, "", record.LintFixedBuffer, size(n[1]))
		known, _ := c.ask(l.Key)
		if now, _ := integers(known.Value); len(now) == p.values {
			c.correct(l.Key, spaced([]int64{now[0], now[1], n[2]}))
		} else {
			c.advise(record.AdviceLeaveOut)
		}
	}
	if p.unit == bytes && n[2] < 65536 && c.wins(l) {
		c.add(l, "unit", record.LintWarning, "", record.LintBytes, size(n[2]))
		c.correct(l.Key, spaced(each(n, func(n int64) int64 { return n << 10 }))) // KiB were meant
	}
}

func each(numbers []int64, of func(int64) int64) (list []int64) {
	return lists.Map(numbers, func(n int64) int64 { return of(n) })
}

func spaced(numbers []int64) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// now compares a value with the one that the kernel has.
func (c *checker) now(l settingfile.Line, p *parameter) {
	c.queue(l)
	known, asked := c.ask(l.Key)
	if !asked || known.Value == "" || l.Container { // which has values of its own
		return
	}
	if same(known.Value, l.Value) {
		code := record.LintAsItIs
		if l.Key == setting.CongestionControl {
			code = record.LintControlAsItIs
		}
		c.add(l, "as-it-is", record.LintNote, "", code)
		return
	}
	was, _ := integers(known.Value)
	is, _ := integers(l.Value)
	if len(is) == 1 && len(was) == 1 && (l.Bound == ">" && is[0] <= was[0] || l.Bound == "<" && is[0] >= was[0]) {
		c.add(l, "as-it-is", record.LintNote, "", record.LintBoundAsItIs, l.Bound, was[0])
		return
	}
	corrected, value := "", l.Value
	if n := len(c.out.Findings); n > 0 && c.latest().Line == l.Line && c.latest().File == l.File {
		if is := c.latest().Corrects; is != nil && is.Key == l.Key && !same(is.Value, value) {
			corrected, value = is.Value, is.Value
		}
	}
	less, more := Lowers(l.Key, known.Value, value)
	if len(less) == 0 {
		return
	}
	args := []any{corrected}
	for _, one := range less {
		args = append(args, one.Bound, one.Is, one.Was)
	}
	if same(more, known.Value) {
		c.add(l, "lowers", record.LintWarning, "", record.LintLowers, args...)
		c.advise(record.AdviceLeaveOut)
		return
	}
	c.add(l, "lowers", record.LintWarning, more, record.LintLowers, args...)
	c.correct(l.Key, more)
}

// Lowers returns the bounds of a buffer that value lowers compared with had, and a value that
// lowers none. Nil: value lowers no bound, the parameter is not known to be a buffer, or lowering it
// may be intended.
func Lowers(key, had, value string) (less []record.Lowered, more string) {
	p := find(key)
	was, known := integers(had)
	is, ok := integers(value)
	if p == nil || !known || !ok || len(was) != len(is) || p.unit != bytes && p.unit != pages || len(was) != 1 &&
		len(was) != 3 {
		return nil, ""
	}
	if strings.Contains(key, "lowat") || strings.Contains(key, "output") {
		return nil, ""
	}
	for i := range is {
		if is[i] < was[i] {
			less = append(less, record.Lowered{Bound: p.bound(i), Is: fmt.Sprint(is[i]), Was: fmt.Sprint(was[i])})
			is[i] = was[i]
		}
	}
	return less, spaced(is)
}

// bound returns the name of the i-th value of a buffer. Empty: the buffer has a single value.
func (p *parameter) bound(i int) string {
	switch {
	case p.values != 3:
		return ""
	case i == 1 && p.unit == pages:
		return "pressure"
	}
	return sizeNames[i]
}

// same reports whether two values are equal for the kernel: numbers in different notation are.
func same(a, b string) bool {
	x, okX := integers(a)
	y, okY := integers(b)
	if okX && okY {
		return slices.Equal(x, y)
	}
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// size spells bytes for reading: "38.1 GiB".
func size(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.size)), ".0") + " " + u.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// hz returns the number of ticks per second of the kernel that was asked. 0: unknown.
func (c *checker) hz() int64 {
	if c.kernel == nil {
		return 0
	}
	return c.kernel.HZ
}

// outside adds a finding about a number that the kernel does not accept.
func (c *checker) outside(l settingfile.Line, p *parameter, n int64) {
	switch low, high := p.bounds(c.hz()); {
	case p.max == 1<<63-1:
		c.add(l, "refused", record.LintError, "", record.LintLeast, low, n)
	case p.keptAs == "jiffies" && c.hz() == 0:
		c.add(l, "refused", record.LintError, "", record.LintRangeTicks, low, high, n, lowestHZ)
	default:
		c.add(l, "refused", record.LintError, "", record.LintRange, low, high, n)
	}
}
