//go:build !portable

package netlink

import (
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// struct fib_rule_hdr: family, dst_len, src_len, tos, table, 2 reserved, action,
// flags (uint32).
const ruleLen = 12

// Rules lists the IPv4 and IPv6 rules, each family by priority.
func (c *Conn) Rules() ([]Rule, error) {
	return list(c, "list rules", unix.RTM_GETRULE, unix.RTM_NEWRULE, ruleLen, bothFamilies(ruleLen),
		each(func(body []byte) Rule { return parseRule(slices.Clone(body)) }))
}

func parseRule(o Object) Rule {
	r := Rule{Family: 4, Table: int(o[4]), Object: o}
	if o[0] == unix.AF_INET6 {
		r.Family = 6
	}
	const invert = 2 // FIB_RULE_INVERT
	r.Plain = o[7] == unix.FR_ACT_TO_TBL && o[3] == 0 && native.Uint32(o[8:])&invert == 0
	for a := range attributes(o[ruleLen:]) {
		switch a.kind {
		case unix.FRA_DST:
			r.To = netip.PrefixFrom(a.addr(), int(o[1]))
		case unix.FRA_SRC:
			r.From = netip.PrefixFrom(a.addr(), int(o[2]))
		case unix.FRA_PRIORITY:
			r.Priority = int(a.uint32())
		case unix.FRA_TABLE:
			r.Table = int(a.uint32())
		case unix.FRA_PROTOCOL:
		case unix.FRA_SUPPRESS_PREFIXLEN, unix.FRA_SUPPRESS_IFGROUP:
			r.Plain = r.Plain && a.uint32() == ^uint32(0)
		default:
			r.Plain = false // marks, devices, interfaces, …
		}
	}
	return r
}

// AddRule creates a plain rule.
func (c *Conn) AddRule(r Rule) error {
	return c.request("add rule", r.String(), unix.RTM_NEWRULE, flagsAdd, ruleBody(r), nil)
}

// DeleteRule removes a plain rule; one that does not exist is no error.
func (c *Conn) DeleteRule(r Rule) error {
	return c.remove("delete rule", r.String(), unix.RTM_DELRULE, ruleBody(r))
}

func ruleBody(r Rule) []byte {
	body := make([]byte, ruleLen, 64)
	body[0] = unix.AF_INET
	if r.Family == 6 {
		body[0] = unix.AF_INET6
	}
	body[7] = unix.FR_ACT_TO_TBL
	if r.To.IsValid() {
		body[1] = byte(r.To.Bits())
		body = appendAttribute(body, unix.FRA_DST, r.To.Masked().Addr().AsSlice())
	}
	if r.From.IsValid() {
		body[2] = byte(r.From.Bits())
		body = appendAttribute(body, unix.FRA_SRC, r.From.Masked().Addr().AsSlice())
	}
	if r.Priority != 0 {
		body = appendUint32(body, unix.FRA_PRIORITY, uint32(r.Priority))
	}
	return appendUint32(body, unix.FRA_TABLE, uint32(r.Table))
}
