//go:build !portable

package drops

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf/btf"
)

// field is the position of a member of a structure, in bytes.
type field struct{ offset, size uint32 }

// layout has the properties of the running kernel that the program depends on.
type layout struct {
	skb struct{ sk, dev, dst, iif, protocol, network, head field }
	// Members of struct net_device, sock, dst_entry and net.
	deviceIndex, deviceNet, socketNet, routeDevice, netInode field
	// socket reports whether the fourth argument of the tracepoint is the receiving socket (Linux
	// 6.11).
	socket bool
	// reasons maps names of enum skb_drop_reason, without prefix, to values.
	reasons map[string]uint32
}

// prefix is the prefix of the names of enum skb_drop_reason.
const prefix = "SKB_DROP_REASON_"

// layoutOf reads the layout from the kernel's types.
func layoutOf(kernel *btf.Spec) (l layout, err error) {
	var tracepoint *btf.Typedef
	if err := kernel.TypeByName("btf_trace_kfree_skb", &tracepoint); err != nil {
		return l, fmt.Errorf("%w: the kernel has no tracepoint kfree_skb (CONFIG_TRACEPOINTS)", ErrUnavailable)
	}
	function, _ := btf.As[*btf.Pointer](tracepoint.Type)
	if function == nil {
		return l, fmt.Errorf("%w: btf_trace_kfree_skb is %v", ErrUnavailable, tracepoint.Type)
	}
	// void *data, struct sk_buff *skb, void *location[, enum skb_drop_reason reason[, struct sock *rx_sk]]
	proto, _ := btf.As[*btf.FuncProto](function.Target)
	var reasons *btf.Enum
	if proto == nil || len(proto.Params) < 4 || kernel.TypeByName("skb_drop_reason", &reasons) != nil {
		return l, fmt.Errorf("%w: kfree_skb has no reason in this kernel; Linux 5.17 has", ErrUnavailable)
	}
	l.socket = len(proto.Params) > 4
	l.reasons = map[string]uint32{}
	for _, v := range reasons.Values {
		l.reasons[strings.TrimPrefix(v.Name, prefix)] = uint32(v.Value)
	}
	for _, m := range []struct {
		structure string
		into      *field
		path      []string
	}{
		{"sk_buff", &l.skb.sk, []string{"sk"}},
		{"sk_buff", &l.skb.dev, []string{"dev"}},
		{"sk_buff", &l.skb.dst, []string{"_skb_refdst"}},
		{"sk_buff", &l.skb.iif, []string{"skb_iif"}},
		{"sk_buff", &l.skb.protocol, []string{"protocol"}},
		{"sk_buff", &l.skb.network, []string{"network_header"}},
		{"sk_buff", &l.skb.head, []string{"head"}},
		{"net_device", &l.deviceIndex, []string{"ifindex"}},
		{"net_device", &l.deviceNet, []string{"nd_net", "net"}},
		{"sock", &l.socketNet, []string{"__sk_common", "skc_net", "net"}},
		{"dst_entry", &l.routeDevice, []string{"dev"}},
		{"net", &l.netInode, []string{"ns", "inum"}},
	} {
		var s *btf.Struct
		if err := kernel.TypeByName(m.structure, &s); err != nil {
			return l, fmt.Errorf("%w: struct %s: %w", ErrUnavailable, m.structure, err)
		}
		if *m.into, err = find(s, m.path...); err != nil {
			return l, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	return l, nil
}

// find returns the position of a member given by a path of names. It also searches anonymous
// members.
func find(t btf.Type, path ...string) (f field, err error) {
	for _, name := range path {
		offset, inner, ok := member(t, name)
		if !ok {
			return f, fmt.Errorf("%v has no member %s", t, strings.Join(path, "."))
		}
		f.offset += offset
		t = btf.UnderlyingType(inner)
	}
	size, err := btf.Sizeof(t)
	f.size = uint32(size)
	return f, err
}

func member(t btf.Type, name string) (offset uint32, of btf.Type, ok bool) {
	var members []btf.Member
	switch t := btf.UnderlyingType(t).(type) {
	case *btf.Struct:
		members = t.Members
	case *btf.Union:
		members = t.Members
	}
	for _, m := range members {
		if m.Name == name {
			return m.Offset.Bytes(), m.Type, true
		}
		if m.Name != "" {
			continue
		}
		if inner, of, ok := member(m.Type, name); ok {
			return m.Offset.Bytes() + inner, of, true
		}
	}
	return 0, nil, false
}
