package sock

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// BlockBytes is the size of a Block: one huge page of the usual size.
const BlockBytes = 2 << 20

// Block is memory with constant content to send from, over and over. One huge
// page holds it where the kernel has any: its pages are found in one step.
type Block struct {
	// Huge says that a huge page holds it. Plain is why none does.
	Huge  bool
	Plain string

	area unsafe.Pointer // twice the size, so that a block's alignment fits in
	data []byte
	file int
}

// NewBlock makes a block and lets fill write its content, which does not change
// any more. Close gives it back; what sockets still refer to, the kernel keeps
// for them.
//
// The block is a file in memory (memfd_create(2)), mapped, so that it can be sent
// both as memory and as a file. MADV_COLLAPSE (Linux 6.1) makes its pages one huge
// page. Unlike MAP_HUGETLB that takes nothing of what somebody reserved, and
// it works whatever /sys/kernel/mm/transparent_hugepage says.
func NewBlock(fill func([]byte)) (*Block, error) {
	file, err := unix.MemfdCreate("linerate-block", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &kernel.Error{Op: "make", Object: "a file in memory (memfd_create)", Err: err}
	}
	b := &Block{file: file}
	if err := b.build(fill); err != nil {
		b.Close()
		return nil, &kernel.Error{Op: "map", Object: "a file in memory", Err: err}
	}
	return b, nil
}

func (b *Block) build(fill func([]byte)) (err error) {
	if err = unix.Ftruncate(b.file, BlockBytes); err != nil {
		return err
	}
	b.area, err = unix.MmapPtr(-1, 0, nil, 2*BlockBytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	aligned := unsafe.Add(b.area, (BlockBytes-uintptr(b.area)%BlockBytes)%BlockBytes)
	if _, err = unix.MmapPtr(b.file, 0, aligned, BlockBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		return err
	}
	b.data = unsafe.Slice((*byte)(aligned), BlockBytes)
	_ = unix.Madvise(b.data, unix.MADV_HUGEPAGE) // for kernels that cannot collapse
	fill(b.data)
	if err := unix.Madvise(b.data, unix.MADV_COLLAPSE); err != nil {
		b.Plain = fmt.Sprintf("MADV_COLLAPSE: %v", err)
	}
	b.Huge = b.Plain == ""
	return unix.Mprotect(b.data, unix.PROT_READ)
}

// Bytes is the block's content. It may only be read, and not after Close.
func (b *Block) Bytes() []byte { return b.data }

// Close unmaps the block. Nobody may use it any more.
func (b *Block) Close() {
	if b.area != nil {
		_ = unix.MunmapPtr(b.area, 2*BlockBytes)
	}
	_ = unix.Close(b.file)
	b.area, b.data = nil, nil
}

// A FileSender sends a block's file, over and over (sendfile(2)).
type FileSender struct {
	block *Block
	at    int64
}

// NewFileSender sends from the block, which must outlive it.
func NewFileSender(b *Block) *FileSender { return &FileSender{block: b} }

// Send sends at most limit bytes to a stream socket, which must be non-blocking
// itself.
func (s *FileSender) Send(socket, limit int) (int, error) {
	if s.at == BlockBytes {
		s.at = 0
	}
	n, err := unix.Sendfile(socket, s.block.file, &s.at, min(limit, BlockBytes-int(s.at)))
	return max(n, 0), err
}
