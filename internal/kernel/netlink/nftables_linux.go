//go:build !portable

package netlink

import (
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// struct nfgenmsg: family, version, resource (uint16, big endian). Integers in attributes of
// nf_tables are big endian as well.
const nfgenmsgLen = 4

// nftFamilies has the names of table families (NFPROTO_*, linux/netfilter.h).
var nftFamilies = map[byte]string{1: "inet", 2: "ip", 3: "arp", 5: "netdev", 7: "bridge", 10: "ip6"}

// nftHooks returns the names of the hooks of base chains, by number.
func nftHooks(family byte) []string {
	switch family {
	case 3:
		return []string{"input", "output", "forward"}
	case 5:
		return []string{"ingress", "egress"}
	}
	return []string{"prerouting", "input", "forward", "output", "postrouting", "ingress"}
}

// mostCountedSets limits the number of sets whose elements are counted, and largestSet their size.
const mostCountedSets, largestSet = 64, 1 << 17

// Nftables lists the nf_tables configuration of the calling thread's network namespace
// (linux/netfilter/nf_tables.h, Linux 3.13). It requires CAP_NET_ADMIN in the namespace.
func Nftables() (*netstate.Nftables, error) {
	c, err := open(unix.NETLINK_NETFILTER, "netfilter netlink socket")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	hooks, policies, err := c.nftChains()
	if err != nil {
		return nil, err
	}
	rules, err := nftList(c, "list rules of nftables", unix.NFT_MSG_GETRULE, unix.NFT_MSG_NEWRULE, 0, nil,
		func(family byte, b []byte) (netstate.NftRule, bool) {
			r := nftRule(family, b)
			r.Hook = hooks[nftChain{r.Family, r.Table, r.Chain}]
			return r, r.Counted || r.Drops()
		})
	if err != nil {
		return nil, err
	}
	n := &netstate.Nftables{Rules: append(policies, rules...)}
	n.Order()
	if n.Objects, err = nftList(c, "list objects of nftables", unix.NFT_MSG_GETOBJ, nftNewObject, 0, nil,
		nftObject); err != nil {
		return nil, err
	}
	n.Objects = n.Objects[:min(len(n.Objects), netstate.MostNftSets)]
	n.Sets, err = c.nftSets()
	return n, err
}

const nftNewObject = unix.NFT_MSG_GETOBJ - 1

// nftList dumps objects of nf_tables of a family, or of all families if it is 0, and returns the
// results of parse.
func nftList[T any](c *Conn, op string, get, answer uint16, family byte, attributes []byte,
	parse func(family byte, attributes []byte) (T, bool)) ([]T, error) {
	const subsystem = unix.NFNL_SUBSYS_NFTABLES << 8
	request := append([]byte{family, 0, 0, 0}, attributes...)
	return list(c, op, subsystem|get, subsystem|answer, nfgenmsgLen, [][]byte{request},
		func(body []byte, _ int64) (T, bool) {
			return parse(body[0], body[nfgenmsgLen:])
		})
}

type nftChain struct{ family, table, chain string }

// nftChains returns the hooks of base chains, and the policies that drop.
func (c *Conn) nftChains() (map[nftChain]string, []netstate.NftRule, error) {
	hooks := map[nftChain]string{}
	policies, err := nftList(c, "list chains of nftables", unix.NFT_MSG_GETCHAIN, unix.NFT_MSG_NEWCHAIN, 0, nil,
		func(family byte, b []byte) (netstate.NftRule, bool) {
			a := byKind(b)
			r := netstate.NftRule{Family: nftFamilies[family], Table: nftName(a[unix.NFTA_CHAIN_TABLE]),
				Chain: nftName(a[unix.NFTA_CHAIN_NAME])}
			h, hooked := byKind(a[unix.NFTA_CHAIN_HOOK].data)[unix.NFTA_HOOK_HOOKNUM]
			if names := nftHooks(family); hooked && int(h.bigUint32()) < len(names) {
				r.Hook = names[h.bigUint32()]
			}
			if policy, is := a[unix.NFTA_CHAIN_POLICY]; is && policy.bigUint32() == 0 { // NF_DROP
				r.Verdict, r.Text = "drop", netstate.PolicyDrop
			}
			if counters, are := a[unix.NFTA_CHAIN_COUNTERS]; are {
				r.Counted = true
				r.Packets, r.Bytes = nftCounter(counters.data)
			}
			hooks[nftChain{r.Family, r.Table, r.Chain}] = r.Hook
			return r, r.Verdict == "drop"
		})
	return hooks, policies, err
}

func nftRule(family byte, b []byte) netstate.NftRule {
	a := byKind(b)
	r := netstate.NftRule{Family: nftFamilies[family], Table: nftName(a[unix.NFTA_RULE_TABLE]),
		Chain: nftName(a[unix.NFTA_RULE_CHAIN]), Handle: a[unix.NFTA_RULE_HANDLE].bigUint64()}
	t := nftText{family: family}
	for element := range attributes(a[unix.NFTA_RULE_EXPRESSIONS].data) {
		e := byKind(element.data)
		name, data := nftName(e[unix.NFTA_EXPR_NAME]), e[unix.NFTA_EXPR_DATA].data
		if name == "counter" {
			r.Counted = true
			r.Packets, r.Bytes = nftCounter(data)
		}
		t.add(name, data)
	}
	r.Text, r.Verdict = t.String(), t.verdict
	return r
}

// nftCounter parses NFTA_COUNTER_*.
func nftCounter(b []byte) (packets, bytes uint64) {
	a := byKind(b)
	return a[unix.NFTA_COUNTER_PACKETS].bigUint64(), a[unix.NFTA_COUNTER_BYTES].bigUint64()
}

// nftObject parses a named counter or quota.
func nftObject(family byte, b []byte) (netstate.NftObject, bool) {
	const counter, quota = 1, 2 // NFT_OBJECT_*
	a := byKind(b)
	o := netstate.NftObject{Family: nftFamilies[family], Table: nftName(a[unix.NFTA_OBJ_TABLE]),
		Name: nftName(a[unix.NFTA_OBJ_NAME])}
	data := a[unix.NFTA_OBJ_DATA].data
	switch a[unix.NFTA_OBJ_TYPE].bigUint32() {
	case counter:
		o.Kind = "counter"
		o.Packets, o.Bytes = nftCounter(data)
	case quota:
		o.Kind = "quota"
		o.Quota = byKind(data)[unix.NFTA_QUOTA_BYTES].bigUint64()
		o.Bytes = byKind(data)[unix.NFTA_QUOTA_CONSUMED].bigUint64()
	}
	return o, o.Kind != ""
}

// nftSets lists the sets with a maximum size. Sets of intervals are left out, because their ends
// are counted as separate elements.
func (c *Conn) nftSets() ([]netstate.NftSet, error) {
	const anonymous, constant, interval = 1, 2, 4 // NFT_SET_*
	type set struct {
		netstate.NftSet
		family byte
	}
	bounded, err := nftList(c, "list sets of nftables", unix.NFT_MSG_GETSET, unix.NFT_MSG_NEWSET, 0, nil,
		func(family byte, b []byte) (set, bool) {
			a := byKind(b)
			flags := a[unix.NFTA_SET_FLAGS].bigUint32()
			s := set{netstate.NftSet{Family: nftFamilies[family], Table: nftName(a[unix.NFTA_SET_TABLE]),
				Name: nftName(a[unix.NFTA_SET_NAME]),
				Size: int(byKind(a[unix.NFTA_SET_DESC].data)[unix.NFTA_SET_DESC_SIZE].bigUint32())}, family}
			return s, s.Size > 0 && s.Size <= largestSet && flags&(anonymous|constant|interval) == 0
		})
	var sets []netstate.NftSet
	for _, s := range bounded[:min(len(bounded), mostCountedSets)] {
		which := appendText(appendText(nil, unix.NFTA_SET_ELEM_LIST_TABLE, s.Table),
			unix.NFTA_SET_ELEM_LIST_SET, s.Name)
		counts, err := nftList(c, "list elements of the set "+s.Name, unix.NFT_MSG_GETSETELEM, unix.NFT_MSG_NEWSETELEM,
			s.family, which, func(_ byte, b []byte) (n int, some bool) {
				for range attributes(byKind(b)[unix.NFTA_SET_ELEM_LIST_ELEMENTS].data) {
					n++
				}
				return n, n > 0
			})
		if err != nil {
			return sets, err
		}
		for _, n := range counts {
			s.Elements += n
		}
		sets = append(sets, s.NftSet)
	}
	if len(bounded) > mostCountedSets && err == nil {
		err = fmt.Errorf("%d further sets", len(bounded)-mostCountedSets)
	}
	return sets, err
}

// nftName returns a string of the kernel, cleaned and shortened; names of tables may contain any
// character.
func nftName(a attribute) string { return plain.Short(strings.TrimSpace(cString(a.data)), 256) }

func (a attribute) bigUint32() uint32 {
	if len(a.data) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(a.data)
}

func (a attribute) bigUint64() uint64 {
	if len(a.data) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(a.data)
}
