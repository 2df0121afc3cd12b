//go:build !portable

package drops

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// kernelWith is what a kernel tells of its types, whose tracepoint has these arguments.
func kernelWith(t *testing.T, arguments ...btf.FuncParam) *btf.Spec {
	t.Helper()
	pointer := &btf.Pointer{Target: &btf.Void{}}
	types := []btf.Type{&btf.Typedef{Name: "btf_trace_kfree_skb", Type: &btf.Pointer{Target: &btf.FuncProto{
		Return: &btf.Void{}, Params: append([]btf.FuncParam{{Type: pointer}, {Type: pointer}, {Type: pointer}},
			arguments...),
	}}}}
	for _, a := range arguments {
		types = append(types, a.Type)
	}
	builder, err := btf.NewBuilder(types, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := builder.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestOldKernel: a kernel without reasons, or with other structures, is refused by name.
func TestOldKernel(t *testing.T) {
	_, err := layoutOf(kernelWith(t))
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "Linux 5.17") {
		t.Errorf("without a reason: %v", err)
	}
	reasons := &btf.Enum{Name: "skb_drop_reason", Size: 4, Values: []btf.EnumValue{{Name: "SKB_CONSUMED", Value: 1}}}
	if _, err = layoutOf(kernelWith(t, btf.FuncParam{Type: reasons})); !errors.Is(err, ErrUnavailable) ||
		!strings.Contains(err.Error(), "struct sk_buff") {
		t.Errorf("without structures: %v", err)
	}
}

func TestFind(t *testing.T) {
	number := &btf.Int{Size: 4}
	union := &btf.Union{Size: 4, Members: []btf.Member{{Name: "a", Type: number}, {Name: "b", Type: number}}}
	inner := &btf.Struct{Name: "inner", Size: 8, Members: []btf.Member{{Type: number, Name: "pad"},
		{Type: union, Offset: 32}}}
	outer := &btf.Struct{Name: "outer", Size: 16,
		Members: []btf.Member{{Name: "in", Type: &btf.Typedef{Name: "inner_t", Type: inner}, Offset: 64}}}
	if f, err := find(outer, "in", "b"); err != nil || f != (field{12, 4}) {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := find(outer, "in", "c"); err == nil || !strings.Contains(err.Error(), "in.c") {
		t.Errorf("%v", err)
	}
}

func TestPlaces(t *testing.T) {
	const kallsyms = `ffffffff81000000 T _text
ffffffff81000100 T ip_rcv
ffffffff81000180 d data
ffffffff81000200 t __pfx_ip_rcv_finish_core
ffffffff81000210 t ip_rcv_finish_core.isra.0
ffffffffc0000000 t ovs_dp_process_packet	[openvswitch]
ffffffff81000300 T udp_rcv
`
	found, err := places(strings.NewReader(kallsyms), []uint64{0xffffffff81000310, 0xffffffff810001a0,
		0xffffffff81000250, 0xffffffff81000240, 0xffffffffc0000010, 0x1000})
	want := map[uint64]string{0xffffffff81000310: "udp_rcv", 0xffffffff810001a0: "ip_rcv",
		0xffffffff81000250: "ip_rcv_finish_core", 0xffffffff81000240: "ip_rcv_finish_core",
		0xffffffffc0000010: "ovs_dp_process_packet"}
	if err != nil || !maps.Equal(found, want) {
		t.Errorf("%v, %v", found, err)
	}
	found, err = places(strings.NewReader("0000000000000000 T ip_rcv\n"), []uint64{7})
	if err != nil || len(found) != 0 { // kernel.kptr_restrict
		t.Errorf("%v, %v", found, err)
	}
	if _, err := places(strings.NewReader("x T ip_rcv\n"), []uint64{7}); err == nil {
		t.Error("no error")
	}
}

func TestNames(t *testing.T) {
	n := newNames(btf.NewCache(), layout{reasons: map[string]uint32{"NO_SOCKET": 3}})
	for reason, want := range map[uint32]string{3: "NO_SOCKET", 999: "0x3e7", 0x70001: "0x70001"} {
		if got := n.of(reason); got != want {
			t.Errorf("%d is %s, want %s", reason, got, want)
		}
	}
}

func TestProtocol(t *testing.T) {
	for _, test := range []struct {
		ether uint16
		ip    uint8
		want  string
	}{{0, 0, ""}, {0x0800, 17, "IPv4 UDP"}, {0x86dd, 58, "IPv6 ICMPv6"}, {0x0800, 0, "IPv4"},
		{0x0800, 200, "IPv4 protocol 200"}, {0x88cc, 0, "LLDP"}, {0x88b5, 0, "0x88B5"}} {
		if got := protocol(test.ether, test.ip); got != test.want {
			t.Errorf("%#x %d: %q, want %q", test.ether, test.ip, got, test.want)
		}
	}
}
