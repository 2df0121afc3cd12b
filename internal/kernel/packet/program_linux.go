//go:build !portable

package packet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// program transmits with a BPF program.
type program struct {
	run     *ebpf.Program
	options ebpf.RunOptions
	maps    [2]*ebpf.Map
	mapped  [2][]byte
	control *control
	short   [64]byte
}

// control is the memory through which this process and the program exchange the state of a batch.
type control struct {
	next   uint32 // frame to transmit
	left   uint32 // frames left to transmit; the program counts down
	result int32  // why it stopped early: a negative errno, or NET_XMIT_DROP; 0: it did not
	_      uint32
}

// Offsets in control.
const (
	controlNext, controlLeft, controlResult = 0, 4, 8

	// placeHead is the space for the frame's size at the start of its slot.
	placeHead = 8
	// netXmitDrop and netXmitCN are results of dev_queue_xmit for a full queue (linux/netdevice.h); with the
	// second, another packet was dropped for this one.
	netXmitDrop, netXmitCN = 1, 2
	// mostInput is the largest input for BPF_PROG_RUN: less than a page. The program itself lengthens a frame.
	mostInput = 2048
)

func openProgram(f *frames, index int) (_ *program, err error) {
	p := &program{}
	defer func() {
		if err != nil {
			p.close()
			if errors.Is(err, unix.EPERM) {
				err = fmt.Errorf("it needs CAP_BPF and CAP_NET_ADMIN over the machine: %w", unix.EPERM)
			}
			err = fmt.Errorf("program that transmits frames: %w", err)
		}
	}()
	f.head, f.place = placeHead, (placeHead+f.bytes+7)/8*8
	for i, spec := range []ebpf.MapSpec{
		{Name: "frames", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(f.place), MaxEntries: Room,
			Flags: unix.BPF_F_MMAPABLE},
		{Name: "control", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(unsafe.Sizeof(control{})), MaxEntries: 1,
			Flags: unix.BPF_F_MMAPABLE},
	} {
		if p.maps[i], err = ebpf.NewMap(&spec); err != nil {
			return nil, err
		}
		if p.mapped[i], err = unix.Mmap(p.maps[i].FD(), 0, int(spec.ValueSize*spec.MaxEntries),
			unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
			return nil, err
		}
	}
	f.memory = p.mapped[0]
	p.control = (*control)(unsafe.Pointer(unsafe.SliceData(p.mapped[1])))
	p.run, err = ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "send_frames", Type: ebpf.SchedCLS, License: "GPL",
		Instructions: instructions(p.maps[0].FD(), p.maps[1].FD(), index, f.bytes),
	})
	if err != nil {
		return nil, err
	}
	// Checks whether the kernel has BPF_PROG_RUN; transmits nothing.
	p.options = ebpf.RunOptions{Data: make([]byte, 64), Repeat: 1}
	_, err = p.run.Run(&p.options)
	return p, err
}

// instructions returns the program: for each frame that is left, it copies the frame's size and content to its
// packet, and transmits a clone.
func instructions(frames, controls, index, most int) asm.Instructions {
	const context, state, count, place = asm.R6, asm.R7, asm.R8, asm.R9
	const key, length = -4, 0 // the key on the stack; __sk_buff.len
	return asm.Instructions{
		asm.Mov.Reg(context, asm.R1),
		asm.LoadMapValue(state, controls, 0),
		asm.Mov.Imm(count, 0),

		asm.LoadMem(asm.R0, state, controlLeft, asm.Word).WithSymbol("frame"),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R1, state, controlNext, asm.Word),
		asm.StoreMem(asm.RFP, key, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, frames),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.Mov.Reg(place, asm.R0),

		asm.LoadMem(asm.R2, place, 0, asm.Word),
		asm.LoadMem(asm.R3, context, length, asm.Word),
		asm.JEq.Reg(asm.R2, asm.R3, "content"),
		asm.Mov.Reg(asm.R1, context),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnSkbChangeTail.Call(),
		asm.JNE.Imm(asm.R0, 0, "stop"),

		asm.LoadMem(asm.R4, place, 0, asm.Word).WithSymbol("content"),
		asm.JLT.Imm(asm.R4, MinBytes, "exit"),
		asm.JGT.Imm(asm.R4, int32(most), "exit"),
		asm.Mov.Reg(asm.R1, context),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Reg(asm.R3, place),
		asm.Add.Imm(asm.R3, placeHead),
		asm.Mov.Imm(asm.R5, 0),
		asm.FnSkbStoreBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "stop"),

		asm.Mov.Reg(asm.R1, context),
		asm.Mov.Imm(asm.R2, int32(index)),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnCloneRedirect.Call(),
		asm.JEq.Imm(asm.R0, 0, "taken"),
		asm.JNE.Imm(asm.R0, netXmitCN, "stop"),

		asm.LoadMem(asm.R1, state, controlNext, asm.Word).WithSymbol("taken"),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(state, controlNext, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, state, controlLeft, asm.Word),
		asm.Sub.Imm(asm.R1, 1),
		asm.StoreMem(state, controlLeft, asm.R1, asm.Word),
		asm.Add.Imm(count, 1),
		asm.JLT.Imm(count, Room, "frame"),
		asm.Ja.Label("exit"),

		asm.StoreMem(state, controlResult, asm.R0, asm.Word).WithSymbol("stop"),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
		asm.Return(),
	}
}

func (p *program) transmit(f *frames, begin, end int) (int, error) {
	// The kernel uses the EtherType of the packet's first content, for filters for example; a frame with
	// another one needs another call.
	const etherType = 12
	first := f.frame(begin)
	n := 0
	for i := begin; i < end; i++ {
		frame := f.frame(i)
		if *(*uint16)(unsafe.Pointer(&frame[etherType])) != *(*uint16)(unsafe.Pointer(&first[etherType])) {
			break
		}
		binary.NativeEndian.PutUint32(f.memory[i*f.place:], uint32(len(frame)))
		n++
	}
	p.control.next, p.control.result = uint32(begin), 0
	atomic.StoreUint32(&p.control.left, uint32(n))
	p.options.Data = first[:min(len(first), mostInput)]
	if len(first) < len(p.short) { // BPF_PROG_RUN takes no shorter packet; the program trims it
		p.short = [64]byte{}
		copy(p.short[:], first)
		p.options.Data = p.short[:]
	}
	_, err := p.run.Run(&p.options)
	n -= int(atomic.LoadUint32(&p.control.left))
	var errno syscall.Errno
	switch result := p.control.result; {
	case errors.As(err, &errno):
		return n, errno
	case err != nil:
		return n, err
	case result == netXmitDrop:
		return n, unix.ENOBUFS
	case result < 0:
		return n, syscall.Errno(-result)
	}
	return n, nil
}

func (p *program) close() error {
	var errs []error
	for _, m := range p.mapped {
		if m != nil {
			errs = append(errs, unix.Munmap(m))
		}
	}
	if p.run != nil {
		errs = append(errs, p.run.Close())
	}
	for _, m := range p.maps {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}
