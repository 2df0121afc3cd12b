package sock

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// PieceBytes is the longest piece of a Pipe.
const PieceBytes = 64 << 10

const (
	// bufferBytes is the most that a Unix socket keeps in one buffer (UNIX_SKB_FRAGS_SZ of net/unix/af_unix.c):
	// half a piece.
	bufferBytes = 32 << 10
	// pipeSlots is the desired number of buffers of a Pipe, leastSlots that of a new pipe (pipe(7)).
	pipeSlots, leastSlots = 32, 16
)

// Pipe passes pages to a socket without copying them. Its stock is a pipe that stays full: tee(2) duplicates
// references to its buffers into a second pipe, and splice(2) moves those on.
//
// A buffer is 32 KiB. The stock is filled through a Unix socket because the kernel keeps what is written there
// in runs of eight pages, each of which splice(2) moves into a pipe as one buffer; vmsplice(2) and sendfile(2)
// need one buffer per page.
type Pipe struct {
	Size int // capacity when filled with the longest pieces

	stock, work [2]int // each: the end to read from, and the end to write to
	piece       int    // size of its pieces in bytes; 0: not filled yet
	stocked     int    // bytes in the stock
	held        int    // bytes in the working pipe that have not been passed on
}

// NewPipe returns a pipe that holds 1 MiB, or half of that where this user's pipes have used up their slots
// (fs.pipe-max-size, fs.pipe-user-pages-soft; pipe(7)). It fails if new pipes of that user are smaller still.
func NewPipe() (*Pipe, error) {
	p := &Pipe{stock: [2]int{-1, -1}, work: [2]int{-1, -1}}
	slots := pipeSlots
	for _, ends := range []*[2]int{&p.stock, &p.work} {
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			p.Close()
			return nil, &kernel.Error{Op: "make", Object: "a pipe", Err: err}
		}
		_, err := unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, pipeSlots*os.Getpagesize())
		has, _ := unix.FcntlInt(uintptr(ends[1]), unix.F_GETPIPE_SZ, 0)
		if slots = min(slots, has/os.Getpagesize()); slots < leastSlots {
			p.Close()
			return nil, &kernel.Error{Op: "enlarge", Object: fmt.Sprintf("a pipe to %d slots", leastSlots), Err: err,
				Detail: "fs.pipe-user-pages-soft limits how many one user's pipes have"}
		}
	}
	p.Size = slots * bufferBytes
	return p, nil
}

// Filled reports whether Fill has succeeded.
func (p *Pipe) Filled() bool { return p.stocked > 0 }

// Fill fills the stock with the first piece bytes, at most PieceBytes, of each 64 KiB of data. A piece of the
// size of a packet becomes one packet; another size would leave a small rest for a packet of its own. Data is
// copied here only.
func (p *Pipe) Fill(data []byte, piece int) error {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return &kernel.Error{Op: "make", Object: "a pair of Unix sockets", Err: err}
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	p.piece = min(piece, PieceBytes)
	scrap := make([]byte, bufferBytes)
	for at := 0; at+PieceBytes <= min(len(data), p.Size); at += PieceBytes {
		if err = p.add(ends, data[at:at+PieceBytes], scrap); err != nil {
			break
		}
		p.stocked += p.piece
	}
	// Remove the rest of a piece that did not fit.
	for n := 1; n > 0; {
		n, _ = unix.Read(p.work[0], scrap)
	}
	if p.stocked == 0 {
		return &kernel.Error{Op: "fill", Object: "a pipe through a Unix socket", Err: err}
	}
	return nil
}

// add adds a piece of data to the stock. It goes through the working pipe, since splice(2) reads from a socket
// at most as many bytes as a pipe has free slots of one page, however few slots it then uses.
func (p *Pipe) add(ends [2]int, data, scrap []byte) error {
	for done := 0; done < p.piece; {
		// Write the whole buffer even if less is needed: otherwise the kernel would begin a new buffer after a
		// size that is no multiple of a page.
		written, err := unix.Write(ends[0], data[done:min(done+bufferBytes, len(data))])
		if err != nil {
			return err
		}
		wanted := min(written, p.piece-done)
		for left := wanted; left > 0; {
			n, err := unix.Splice(ends[1], nil, p.work[1], nil, left, unix.SPLICE_F_NONBLOCK)
			if err != nil {
				return err
			}
			moved, err := unix.Splice(p.work[0], nil, p.stock[1], nil, int(n), unix.SPLICE_F_NONBLOCK)
			switch {
			case err != nil:
				return err
			case moved == 0 || moved < n:
				return unix.EAGAIN // the stock is full
			}
			left -= int(n)
		}
		if rest := written - wanted; rest > 0 {
			if _, err := unix.Read(ends[1], scrap[:rest]); err != nil {
				return err
			}
		}
		done += wanted
	}
	return nil
}

// Send sends the stock repeatedly, at most pieces per call, to a non-blocking stream socket: splice's flags
// concern only the pipe.
func (p *Pipe) Send(socket, pieces int) (int, error) {
	if p.held == 0 {
		n, err := unix.Tee(p.stock[0], p.work[1], p.stocked, unix.SPLICE_F_NONBLOCK)
		if err != nil {
			return 0, err
		}
		p.held = int(n)
	}
	// The first may be the rest that the socket had no room for.
	most := (p.held-1)%p.piece + 1 + (pieces-1)*p.piece
	n, err := unix.Splice(p.work[0], nil, socket, nil, min(most, p.held), unix.SPLICE_F_NONBLOCK)
	n = max(n, 0)
	p.held -= int(n)
	return int(n), err
}

// Close closes the pipes; the kernel keeps the pages that sockets still refer to. It may be called again.
func (p *Pipe) Close() {
	for _, ends := range []*[2]int{&p.stock, &p.work} {
		for i, end := range ends {
			if end >= 0 {
				_ = unix.Close(end)
			}
			ends[i] = -1
		}
	}
}
