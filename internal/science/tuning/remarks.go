package tuning

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
)

// This file has remarks on values that the kernel takes, and decides which parameter a misspelt name
// means.

// meaning has values whose effect is easily missed. Package wording says what it is.
var meaning = []struct{ prefix, suffix, value string }{
	{"net.ipv6.conf.", ".disable_ipv6", "1"}, {"net.ipv4.conf.", ".rp_filter", "1"},
}

// remarks adds notes on a value.
func (c *checker) remarks(l settingfile.Line) {
	for _, m := range meaning {
		if strings.HasPrefix(l.Key, m.prefix) && strings.HasSuffix(l.Key, m.suffix) && same(l.Value, m.value) {
			c.add(l, "means", record.LintNote, "", record.LintMeans, strings.TrimPrefix(m.suffix, "."))
		}
	}
	n, ok := integer(l.Value)
	if !ok {
		return
	}
	if l.Key == somaxconn && n > mostShortBacklog {
		c.add(l, "older-kernels", record.LintNote, "", record.LintBefore, mostShortBacklog, backlogOf32Bits)
	}
	if power := transposed(l.Value); power != "" && find(l.Key) != nil {
		c.add(l, "slip", record.LintNote, "", record.LintSlip, l.Value, power)
	}
}

// The backlog of a socket had 16 bits before Linux 4.1 (commit becb74f0acca, sk_max_ack_backlog in
// include/net/sock.h).
const (
	somaxconn        = "net.core.somaxconn"
	mostShortBacklog = 65535
	backlogOf32Bits  = "4.1"
)

// transposed returns the power of two from 8192 on from which a number differs by two adjacent digits
// that are swapped. Empty: there is none.
func transposed(text string) string {
	if len(text) < len("8192") || strings.Trim(text, "0123456789") != "" {
		return ""
	}
	for i := range len(text) - 1 {
		if text[i] == text[i+1] {
			continue
		}
		swapped := text[:i] + string(text[i+1]) + string(text[i]) + text[i+2:]
		if n, err := strconv.ParseUint(swapped, 10, 64); err == nil && n >= 8192 && bits.OnesCount64(n) == 1 {
			return swapped
		}
	}
	return ""
}

// queues are parameters of which less makes a queue or a share of time shorter, with the default of
// current kernels. 0: it depends on the machine.
var queues = map[string]int64{
	"net.core.netdev_max_backlog": 1000, "net.core.netdev_budget": 300, somaxconn: 4096,
	"net.ipv4.tcp_max_syn_backlog": 0,
}

// queue adds a finding if a line makes a queue shorter than the kernel has it, or by default.
func (c *checker) queue(l settingfile.Line) {
	usual, is := queues[l.Key]
	n, ok := integer(l.Value)
	if !is || !ok || l.Bound == ">" {
		return
	}
	known, asked := c.ask(l.Key)
	now, has := integer(known.Value)
	switch {
	case asked && has && n < now && !l.Container:
		c.add(l, "lowers", record.LintWarning, "", record.LintLowers, "", "", l.Value, now)
		c.advise(record.AdviceLeaveOut)
	case (!asked || l.Container) && n < usual:
		c.add(l, "lowers", record.LintWarning, "", record.LintLowersDefault, l.Value, usual)
		c.advise(record.AdviceLeaveOut)
	}
}

// thresholdKeys are the thresholds of a neighbour table, with the kernel's defaults (net/ipv4/arp.c).
var thresholdKeys = []string{"gc_thresh1", "gc_thresh2", "gc_thresh3"}

var thresholdDefaults = []int64{128, 512, 1024}

// thresholds reports thresholds of a neighbour table that are not in ascending order: entries are
// collected at the second, and refused at the third.
func (c *checker) thresholds() {
	for _, family := range []string{"ipv4", "ipv6"} {
		var values []int64
		var last *settingfile.Line
		for i, name := range thresholdKeys {
			key := "net." + family + ".neigh.default." + name
			n := thresholdDefaults[i]
			if known, _ := c.ask(key); known.Value != "" {
				n, _ = integer(known.Value)
			}
			if l, set := c.winner["\x00"+key]; set {
				value, _ := l.Bare()
				number, ok := integer(value)
				if !ok {
					return
				}
				n, last = number, &l
			}
			values = append(values, n)
		}
		if last != nil && !slices.IsSorted(values) {
			c.add(*last, "order", record.LintWarning, "", record.LintThresholds, values[0], values[1], values[2])
		}
	}
}

// ofMachine reports whether a network namespace does not have its own value of a parameter.
func (c *checker) ofMachine(l settingfile.Line, p *parameter) bool {
	known, _ := c.ask(l.Key)
	switch {
	case l.IsOption():
		return false
	case known.Scope != "":
		return known.Scope == record.ScopeMachine
	case p != nil && p.scope != "":
		return p.scope == record.ScopeMachine
	}
	for _, prefix := range []string{"net.", "kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."} {
		if strings.HasPrefix(l.Key, prefix) {
			return false
		}
	}
	return true
}

// means reports whether a line whose parameter does not exist can mean a similar one: their names
// differ by a typing error and not by a word or a digit, and the value is one that it takes.
func (c *checker) means(l settingfile.Line, near string) bool {
	if near == "" {
		return false
	}
	a, b := lastPart(l.Key), lastPart(near)
	for _, size := range sizeNames {
		if l.Key == near+"_"+size {
			return true
		}
	}
	wrong := 2
	switch longer := max(len(a), len(b)); {
	case longer < 6:
		wrong = 1
	case longer >= 18:
		wrong = 3
	}
	return source.EditDistance(a, b) <= wrong && digits(a) == digits(b) && c.takesKind(near, l.Value)
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// digits returns the digits of a name: gc_thresh1 and gc_thresh2 are two parameters.
func digits(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, name)
}

// takesKind reports whether a value is of the kind that a parameter has: numbers, no more than it has,
// or a word.
func (c *checker) takesKind(key, value string) bool {
	numbers, ok := integers(value)
	if p := find(key); p != nil {
		if p.values == 0 {
			return !ok
		}
		return ok && len(numbers) <= p.values || meant(value, p) != ""
	}
	known, _ := c.ask(key)
	has, isNumber := integers(known.Value)
	return known.Value == "" || isNumber == ok && (!ok || len(numbers) <= len(has))
}
