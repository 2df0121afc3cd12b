//go:build !portable

package xdp

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// programs have the instructions of each program by name.
var programs = map[string]func() asm.Instructions{setting.XDPForward: forward, setting.XDPDropFragments: dropFragments}

// Attached returns the name of an interface's program: None, one of setting.XDPPrograms, or the ID of another
// one.
func Attached(c *netlink.Conn, iface string) (string, error) {
	l, err := c.LinkByName(iface)
	if err != nil || l.XDP == 0 {
		return None, err
	}
	other := fmt.Sprintf("program %d", l.XDP)
	p, err := ebpf.NewProgramFromID(ebpf.ProgramID(l.XDP))
	if err != nil { // only the machine's root may ask
		return other, nil
	}
	defer p.Close()
	info, err := p.Info()
	if err != nil {
		return other, nil
	}
	for name := range programs {
		if kernelName(name) == info.Name {
			return name, nil
		}
	}
	return fmt.Sprintf("%s (%s)", other, info.Name), nil
}

// Attach attaches one of setting.XDPPrograms to an interface without a program: in its driver if possible, else
// in the stack (generic XDP). It stays until Detach.
func Attach(c *netlink.Conn, iface, name string) error {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: kernelName(name), Type: ebpf.XDP, License: "GPL",
		Instructions: programs[name]()})
	if err != nil {
		detail := ""
		if errors.Is(err, unix.EPERM) {
			detail = "it needs CAP_BPF and CAP_NET_ADMIN over the machine"
		}
		return &kernel.Error{Op: "load", Object: "XDP program " + name, Err: err, Detail: detail}
	}
	defer p.Close()
	fd := p.FD()
	return c.ChangeLink(iface, netlink.LinkChange{XDP: &fd})
}

// Detach detaches an interface's program.
func Detach(c *netlink.Conn, iface string) error {
	none := -1
	return c.ChangeLink(iface, netlink.LinkChange{XDP: &none})
}

// Offsets in struct xdp_md and struct bpf_fib_lookup (linux/bpf.h), the latter on the stack.
const (
	mdData, mdDataEnd, mdIngress = 0, 4, 12

	fibBytes                                      = 64
	fib                                           = -fibBytes
	fibFamily, fibProtocol, fibLength, fibIfindex = fib, fib + 1, fib + 6, fib + 8
	fibClass, fibSource, fibDestination           = fib + 12, fib + 16, fib + 32
	fibSourceMAC, fibDestinationMAC               = fib + 52, fib + 58
)

// Offsets in a frame, and values there.
const (
	ethType, ip   = 12, 14
	ip4, ip6      = ip + 20, ip + 40 // lengths of frames with a header
	xdpDrop       = 1
	xdpPass       = 2
	noOptions     = 0x45 // version and length of a header of IPv4
	moreOrOffset  = 0x3fff
	fragmentOfIP6 = 44 // next header (RFC 8200)
)

// Registers that calls preserve.
const context, packet, end = asm.R6, asm.R7, asm.R8

// headers begins a program: it continues at "ip4" for IPv4 and at "ip6" for IPv6, with at least the header in
// the frame; other packets pass.
func headers() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(context, asm.R1),
		asm.LoadMem(packet, context, mdData, asm.Word),
		asm.LoadMem(end, context, mdDataEnd, asm.Word),
		asm.Mov.Reg(asm.R1, packet),
		asm.Add.Imm(asm.R1, ip4),
		asm.JGT.Reg(asm.R1, end, "pass"),
		asm.LoadMem(asm.R2, packet, ethType, asm.Half),
		asm.HostTo(asm.BE, asm.R2, asm.Half),
		asm.JEq.Imm(asm.R2, unix.ETH_P_IP, "ip4"),
		asm.JNE.Imm(asm.R2, unix.ETH_P_IPV6, "pass"),
		asm.Mov.Reg(asm.R1, packet),
		asm.Add.Imm(asm.R1, ip6),
		asm.JGT.Reg(asm.R1, end, "pass"),
		asm.Ja.Label("ip6"),
	}
}

// pass ends a program.
func pass() asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, xdpPass).WithSymbol("pass"), asm.Return()}
}

func dropFragments() asm.Instructions {
	return append(append(headers(),
		asm.LoadMem(asm.R2, packet, ip+6, asm.Half).WithSymbol("ip4"),
		asm.HostTo(asm.BE, asm.R2, asm.Half),
		asm.And.Imm(asm.R2, moreOrOffset),
		asm.JNE.Imm(asm.R2, 0, "drop"),
		asm.Ja.Label("pass"),
		asm.LoadMem(asm.R2, packet, ip+6, asm.Byte).WithSymbol("ip6"),
		asm.JNE.Imm(asm.R2, fragmentOfIP6, "pass"),
		asm.Mov.Imm(asm.R0, xdpDrop).WithSymbol("drop"),
		asm.Return(),
	), pass()...)
}

// forward looks up the route as the stack does (bpf_fib_lookup), decrements the time to live, and sends the
// frame with the MAC addresses of the next link.
func forward() asm.Instructions {
	program := headers()
	add := func(list ...asm.Instruction) { program = append(program, list...) }
	move := func(from, to int16, size asm.Size) {
		add(asm.LoadMem(asm.R2, packet, from, size), asm.StoreMem(asm.RFP, to, asm.R2, size))
	}
	zero := func() {
		add(asm.Mov.Imm(asm.R2, 0))
		for at := int16(0); at < fibBytes; at += 8 {
			add(asm.StoreMem(asm.RFP, fib+at, asm.R2, asm.DWord))
		}
	}
	length := func(at int16, header int32) { // length of the packet with its header, for the MTU check
		add(asm.LoadMem(asm.R2, packet, at, asm.Half), asm.HostTo(asm.BE, asm.R2, asm.Half),
			asm.Add.Imm(asm.R2, header),
			asm.StoreMem(asm.RFP, fibLength, asm.R2, asm.Half))
	}

	add(asm.LoadMem(asm.R2, packet, ip+7, asm.Byte).WithSymbol("ip6"), asm.JLT.Imm(asm.R2, 2, "pass"))
	zero()
	add(asm.StoreImm(asm.RFP, fibFamily, unix.AF_INET6, asm.Byte))
	add(asm.LoadMem(asm.R2, packet, ip, asm.Word), asm.HostTo(asm.BE, asm.R2, asm.Word),
		asm.And.Imm(asm.R2, 0x0fffffff),
		asm.HostTo(asm.BE, asm.R2, asm.Word), asm.StoreMem(asm.RFP, fibClass, asm.R2, asm.Word))
	move(ip+6, fibProtocol, asm.Byte)
	length(ip+4, ip6-ip)
	for at := int16(0); at < 16; at += 4 {
		move(ip+8+at, fibSource+at, asm.Word)
		move(ip+24+at, fibDestination+at, asm.Word)
	}
	add(asm.Ja.Label("lookup"))

	add(asm.LoadMem(asm.R2, packet, ip, asm.Byte).WithSymbol("ip4"), asm.JNE.Imm(asm.R2, noOptions, "pass"),
		asm.LoadMem(asm.R2, packet, ip+8, asm.Byte), asm.JLT.Imm(asm.R2, 2, "pass"))
	zero()
	add(asm.StoreImm(asm.RFP, fibFamily, unix.AF_INET, asm.Byte))
	move(ip+1, fibClass, asm.Byte)
	move(ip+9, fibProtocol, asm.Byte)
	length(ip+2, 0)
	move(ip+12, fibSource, asm.Word)
	move(ip+16, fibDestination, asm.Word)

	add(asm.LoadMem(asm.R2, context, mdIngress, asm.Word).WithSymbol("lookup"),
		asm.StoreMem(asm.RFP, fibIfindex, asm.R2, asm.Word),
		asm.Mov.Reg(asm.R1, context), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, fib),
		asm.Mov.Imm(asm.R3, fibBytes), asm.Mov.Imm(asm.R4, 0),
		asm.FnFibLookup.Call(),
		asm.JNE.Imm(asm.R0, 0, "pass"), // BPF_FIB_LKUP_RET_SUCCESS
		asm.LoadMem(asm.R2, asm.RFP, fibFamily, asm.Byte), asm.JEq.Imm(asm.R2, unix.AF_INET6, "hops"))
	// Adjusts IPv4's checksum for the decremented time to live (RFC 1624).
	add(asm.LoadMem(asm.R2, packet, ip+8, asm.Byte), asm.Sub.Imm(asm.R2, 1),
		asm.StoreMem(packet, ip+8, asm.R2, asm.Byte),
		asm.LoadMem(asm.R2, packet, ip+10, asm.Half), asm.HostTo(asm.BE, asm.R2, asm.Half), asm.Add.Imm(asm.R2, 0x0100),
		asm.Mov.Reg(asm.R3, asm.R2), asm.RSh.Imm(asm.R3, 16), asm.And.Imm(asm.R2, 0xffff), asm.Add.Reg(asm.R2, asm.R3),
		asm.HostTo(asm.BE, asm.R2, asm.Half), asm.StoreMem(packet, ip+10, asm.R2, asm.Half),
		asm.Ja.Label("redirect"),
		asm.LoadMem(asm.R2, packet, ip+7, asm.Byte).WithSymbol("hops"), asm.Sub.Imm(asm.R2, 1),
		asm.StoreMem(packet, ip+7, asm.R2, asm.Byte))
	add(asm.LoadMem(asm.R2, asm.RFP, fibDestinationMAC, asm.Half).WithSymbol("redirect"),
		asm.StoreMem(packet, 0, asm.R2, asm.Half))
	for at := int16(0); at < 6; at += 2 {
		if at > 0 {
			add(asm.LoadMem(asm.R2, asm.RFP, fibDestinationMAC+at, asm.Half),
				asm.StoreMem(packet, at, asm.R2, asm.Half))
		}
		add(asm.LoadMem(asm.R2, asm.RFP, fibSourceMAC+at, asm.Half), asm.StoreMem(packet, 6+at, asm.R2, asm.Half))
	}
	add(asm.LoadMem(asm.R1, asm.RFP, fibIfindex, asm.Word), asm.Mov.Imm(asm.R2, 0), asm.FnRedirect.Call(), asm.Return())
	return append(program, pass()...)
}
