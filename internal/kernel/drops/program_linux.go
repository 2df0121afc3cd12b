//go:build !portable

package drops

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// key is the key of the map. Drops with equal keys are counted together.
type key struct {
	Location  uint64
	Namespace uint32
	Reason    uint32
	Index     uint32
	Ether     uint16
	IP        uint8
	Direction uint8
}

// Offsets in key, and of the program's variables on the stack.
const (
	keyLocation, keyNamespace, keyReason, keyIndex, keyEther, keyIP, keyDirection = 0, 8, 12, 16, 20, 22, 23

	keyBytes    = 24
	stackKey    = -keyBytes
	stackOne    = stackKey - 8
	stackWord   = stackOne - 16
	largestCopy = 384 // of the 512 bytes of a stack
)

// program is executed by the kernel for each packet that it frees at kfree_skb. It determines the
// packet's network namespace, interface and protocol, and adds 1 to the count of its key in the
// map. If the map is full, it adds 1 to the count of the zero key, which always exists. Namespace
// is the inode of the only network namespace that is counted; 0: all.
//
// A packet in the queue of a socket has no device: sk_buff.dev is NULL or, in a union, not a kernel
// address. The interface is then the one on which the packet arrived, or that of its route, and the
// namespace is that of the route or the socket.
func program(l layout, namespace uint32, counts int) (asm.Instructions, error) {
	first, end := l.skb.dev.offset, uint32(0)
	for _, f := range []field{l.skb.sk, l.skb.dev, l.skb.dst, l.skb.iif, l.skb.protocol, l.skb.network, l.skb.head} {
		first, end = min(first, f.offset), max(end, f.offset+f.size)
	}
	if end-first > largestCopy {
		return nil, fmt.Errorf("%w: the members of struct sk_buff are %d bytes apart", ErrUnavailable, end-first)
	}
	stackSKB := stackWord - int16((end-first+7)/8*8)

	var p asm.Instructions
	label := ""
	emit := func(list ...asm.Instruction) {
		if label != "" {
			list[0] = list[0].WithSymbol(label)
			label = ""
		}
		p = append(p, list...)
	}
	at := func(name string) { label = name }
	load := func(to asm.Register, offset int16, size asm.Size) { emit(asm.LoadMem(to, asm.R10, offset, size)) }
	store := func(offset int16, from asm.Register, size asm.Size) { emit(asm.StoreMem(asm.R10, offset, from, size)) }
	// skb loads a member from the packet's copy.
	skb := func(to asm.Register, f field) { load(to, stackSKB+int16(f.offset-first), sizes[f.size]) }
	// read copies kernel memory to the stack. It writes zeros if the memory cannot be read.
	read := func(to int16, n uint32, from asm.Register, offset uint32) {
		emit(asm.Mov.Reg(asm.R3, from), asm.Add.Imm(asm.R3, int32(offset)), asm.Mov.Imm(asm.R2, int32(n)),
			asm.Mov.Reg(asm.R1, asm.R10), asm.Add.Imm(asm.R1, int32(to)), asm.FnProbeReadKernel.Call())
	}
	follow := func(to, from asm.Register, f field) {
		read(stackWord, f.size, from, f.offset)
		load(to, stackWord, sizes[f.size])
	}
	direction := func(d int64) { emit(asm.StoreImm(asm.R10, stackKey+keyDirection, d, asm.Byte)) }

	const context, device, iif, scratch, count = asm.R6, asm.R7, asm.R8, asm.R9, asm.R0
	zeroKey := func() {
		emit(asm.Mov.Imm(asm.R1, 0))
		for offset := int16(0); offset < keyBytes; offset += 8 {
			store(stackKey+offset, asm.R1, asm.DWord)
		}
	}
	emit(asm.Mov.Reg(context, asm.R1))
	zeroKey()
	emit(asm.LoadMem(scratch, context, 2*8, asm.Word))
	emit(asm.JLE.Imm(scratch, int32(l.reasons["SKB_CONSUMED"]), "exit"))
	store(stackKey+keyReason, scratch, asm.Word)
	emit(asm.LoadMem(asm.R1, context, 0, asm.DWord))
	read(stackSKB, end-first, asm.R1, first)

	skb(iif, l.skb.iif)
	store(stackKey+keyIndex, iif, asm.Word)
	skb(device, l.skb.dev)
	emit(asm.JSLT.Imm(device, 0, "device")) // kernel addresses are negative
	skb(scratch, l.skb.dst)
	emit(asm.And.Imm(scratch, ^1), asm.JSGE.Imm(scratch, 0, "socket"))
	follow(device, scratch, l.routeDevice)
	emit(asm.JSGE.Imm(device, 0, "socket"))
	emit(asm.JEq.Imm(iif, 0, "device"))
	direction(received)
	emit(asm.Ja.Label("namespace"))

	at("device")
	follow(scratch, device, l.deviceIndex)
	store(stackKey+keyIndex, scratch, asm.Word)
	direction(received)
	emit(asm.JEq.Reg(scratch, iif, "namespace"))
	direction(sent)
	at("namespace")
	follow(device, device, l.deviceNet)
	emit(asm.Ja.Label("inode"))

	at("socket")
	direction(sent)
	emit(asm.JEq.Imm(iif, 0, "owner"))
	direction(received)
	at("owner")
	if l.socket {
		emit(asm.LoadMem(scratch, context, 3*8, asm.DWord), asm.JSLT.Imm(scratch, 0, "follow"))
	}
	skb(scratch, l.skb.sk)
	at("follow")
	follow(device, scratch, l.socketNet)

	at("inode")
	follow(scratch, device, l.netInode)
	store(stackKey+keyNamespace, scratch, asm.Word)
	if namespace != 0 {
		emit(asm.JNE.Imm32(scratch, int32(namespace), "exit"))
	}

	load(scratch, stackKey+keyReason, asm.Word)
	emit(asm.JEq.Imm(scratch, int32(l.reasons["NOT_SPECIFIED"]), "count"))
	emit(asm.LoadMem(asm.R1, context, 1*8, asm.DWord))
	store(stackKey+keyLocation, asm.R1, asm.DWord)
	skb(scratch, l.skb.protocol)
	emit(asm.HostTo(asm.BE, scratch, asm.Half))
	store(stackKey+keyEther, scratch, asm.Half)
	skb(device, l.skb.head)
	skb(asm.R1, l.skb.network)
	emit(asm.Add.Reg(device, asm.R1))
	for _, version := range []struct {
		ether    int32
		nibble   int32
		protocol int16 // offset of the protocol in the header
	}{{etherIPv4, 4, 9}, {etherIPv6, 6, 6}} {
		next := fmt.Sprint("not ", version.nibble)
		emit(asm.JNE.Imm(scratch, version.ether, next))
		read(stackWord, 10, device, 0)
		load(asm.R1, stackWord, asm.Byte)
		emit(asm.RSh.Imm(asm.R1, 4), asm.JNE.Imm(asm.R1, version.nibble, "count")) // there is no IP header
		load(asm.R1, stackWord+version.protocol, asm.Byte)
		store(stackKey+keyIP, asm.R1, asm.Byte)
		at(next)
	}

	entry := func() {
		emit(asm.LoadMapPtr(asm.R1, counts), asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, stackKey))
	}
	lookup := func() {
		entry()
		emit(asm.FnMapLookupElem.Call(), asm.JNE.Imm(count, 0, "add"))
	}
	emit(asm.Ja.Label("count"))
	at("count")
	lookup()
	emit(asm.Mov.Imm(asm.R1, 1))
	store(stackOne, asm.R1, asm.DWord)
	entry()
	const noExist = 1 // BPF_NOEXIST
	emit(asm.Mov.Reg(asm.R3, asm.R10), asm.Add.Imm(asm.R3, stackOne), asm.Mov.Imm(asm.R4, noExist),
		asm.FnMapUpdateElem.Call(), asm.JEq.Imm(asm.R0, 0, "exit"))
	lookup() // another CPU inserted it first, or the map is full
	zeroKey()
	lookup()
	emit(asm.Ja.Label("exit"))
	at("add")
	emit(asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(count, asm.R1, asm.DWord))
	at("exit")
	emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return p, nil
}

var sizes = map[uint32]asm.Size{1: asm.Byte, 2: asm.Half, 4: asm.Word, 8: asm.DWord}
