package sock

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// blockBytes is the size of a Block: one huge page of x86-64 and arm64.
const blockBytes = 2 << 20

// Block is 2 MiB of constant memory to send from repeatedly, in one huge page if the kernel has one, so that a
// single address translation covers it.
type Block struct {
	Huge  bool
	Plain string // why it is not a huge page; empty: it is

	area unsafe.Pointer // twice the size, to align the block
	data []byte
	file int
}

// NewBlock returns a block with the content that fill writes; afterwards it is read-only. Close releases it;
// the kernel keeps the pages that sockets still refer to.
//
// The block is a mapped file in memory (memfd_create(2)), so it can be sent both as memory and as a file.
// MADV_COLLAPSE (madvise(2), Linux 6.1) turns its pages into one huge page. Unlike MAP_HUGETLB it uses no
// reserved pages, and it works with any setting of /sys/kernel/mm/transparent_hugepage.
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
	if err = unix.Ftruncate(b.file, blockBytes); err != nil {
		return err
	}
	b.area, err = unix.MmapPtr(-1, 0, nil, 2*blockBytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	aligned := unsafe.Add(b.area, (blockBytes-uintptr(b.area)%blockBytes)%blockBytes)
	if _, err = unix.MmapPtr(b.file, 0, aligned, blockBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		return err
	}
	b.data = unsafe.Slice((*byte)(aligned), blockBytes)
	_ = unix.Madvise(b.data, unix.MADV_HUGEPAGE) // for kernels that cannot collapse
	fill(b.data)
	if err := unix.Madvise(b.data, unix.MADV_COLLAPSE); err != nil {
		b.Plain = fmt.Sprintf("MADV_COLLAPSE: %v", err)
	}
	b.Huge = b.Plain == ""
	return unix.Mprotect(b.data, unix.PROT_READ)
}

// Bytes returns the block's content, read-only and valid until Close.
func (b *Block) Bytes() []byte { return b.data }

// Close unmaps the block.
func (b *Block) Close() {
	if b.area != nil {
		_ = unix.MunmapPtr(b.area, 2*blockBytes)
	}
	_ = unix.Close(b.file)
	b.area, b.data = nil, nil
}

// SendFile sends at most limit bytes of the block's file, repeated as needed (sendfile(2)), to a non-blocking
// stream socket. at is the offset to continue at.
func (b *Block) SendFile(socket int, at *int64, limit int) (int, error) {
	if *at == blockBytes {
		*at = 0
	}
	n, err := unix.Sendfile(socket, b.file, at, min(limit, blockBytes-int(*at)))
	return max(n, 0), err
}
