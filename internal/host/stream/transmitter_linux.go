//go:build !portable

package stream

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
)

// A transmitter hands a flow's bytes to the kernel by one kind of system call.
type transmitter interface {
	// push sends what the socket takes now, and does not wait.
	push(fd int) (int, error)
	// drain takes from the socket's error queue what concerns the transmitter.
	drain(fd int)
	// note is what in sending was not as requested; empty: nothing.
	note() string
	close()
}

// largeBytes is what one large call sends. At 140 Gbit/s that takes
// 60 µs.
const largeBytes = 1 << 20

// noCompletions is a transmitter with nothing to drain, to note or to close.
type noCompletions struct{}

func (noCompletions) drain(int)    {}
func (noCompletions) note() string { return "" }
func (noCompletions) close()       {}

// writes copies from memory.
type writes struct {
	noCompletions
	data []byte
}

func (p *writes) push(fd int) (int, error) { return sock.Transmit(fd, p.data, false) }

// splices moves references to pages through a pipe, which several of them may
// share: one is in use at a time.
type splices struct {
	noCompletions
	pipe   *sock.Pipe
	data   []byte
	pieces int // in a call, at most
}

// packetBytes is the most that TCP puts into a packet it gives to the network
// device: 64 KiB without room for headers (sk_setup_caps, MAX_TCP_HEADER), of
// which it uses a multiple of the segment size.
const packetBytes = 64<<10 - 321

func (p *splices) push(fd int) (int, error) {
	if !p.pipe.Filled() {
		piece := packetBytes
		if info, err := sock.TCPInfo(fd); err == nil && info.SndMSS > 0 && info.SndMSS < packetBytes {
			piece -= piece % int(info.SndMSS)
		}
		if err := p.pipe.Fill(p.data, piece); err != nil {
			return 0, fmt.Errorf("%w: %w", syscall.EOPNOTSUPP, err)
		}
	}
	return p.pipe.Send(fd, p.pieces)
}

func (p *splices) close() { p.pipe.Close() }

// files sends a file in memory.
type files struct {
	noCompletions
	block *sock.Block
	at    int64
}

func (p *files) push(fd int) (int, error) { return p.block.SendFile(fd, &p.at, largeBytes) }

// zeroCopies lends pages to the kernel until it has said that it is done.
type zeroCopies struct {
	data      []byte
	queue     sock.ErrorQueue
	wait      sched.Poller
	pending   int // sends that are not completed
	denied    int // sends in a row
	completed int
	copied    int // of those: copied after all
	allowed   bool
}

// zeroCopyBytes is what one call lends. The kernel counts all of it as locked, however
// little the socket takes; an ordinary user's flows may lock 8 MiB together.
const zeroCopyBytes = chunkBytes

// zeroCopyPending is how many sends may be outstanding before the queue is looked at.
const zeroCopyPending = 16

// zeroCopyRetries is how often in a row nothing may be lent before the transmitter gives up:
// for 50 ms or so.
const zeroCopyRetries = 1000

func (p *zeroCopies) push(fd int) (int, error) {
	if !p.allowed {
		if err := sock.SetZeroCopy(fd); err != nil {
			return 0, fmt.Errorf("SO_ZEROCOPY: %w", err)
		}
		p.allowed = true
	}
	n, err := sock.Transmit(fd, p.data, true)
	if n > 0 {
		p.pending++
		p.denied = 0
	}
	if p.pending >= zeroCopyPending || err != nil {
		p.drain(fd)
	}
	if err == syscall.ENOBUFS {
		// This flow, or this user's flows, have lent too much: it will come back.
		if p.denied++; p.pending > 0 || p.denied < zeroCopyRetries {
			p.wait.Sleep(50 * time.Microsecond)
			return 0, syscall.EINTR
		}
		return 0, fmt.Errorf("%w: net.core.optmem_max or RLIMIT_MEMLOCK (ulimit -l) is used up", err)
	}
	return n, err
}

func (p *zeroCopies) drain(fd int) {
	completed, copied, _ := p.queue.Completions(fd)
	p.pending -= completed
	p.completed += completed
	p.copied += copied
}

func (p *zeroCopies) note() string {
	if p.copied == 0 {
		return ""
	}
	return fmt.Sprintf("zerocopy: the kernel copied %d %% of the sends after all, as it does within one machine",
		100*p.copied/p.completed)
}

func (*zeroCopies) close() {}

// isUnsupported reports whether an error means that the call is not available, rather
// than that the connection is broken.
func isUnsupported(err error) bool {
	errnos := []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EINVAL, syscall.EOPNOTSUPP,
		syscall.ENOPROTOOPT, syscall.ENOMEM, syscall.ENOBUFS}
	return slices.ContainsFunc(errnos, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}

// The block that all transmitters of this process send from. It is there while any of
// them is.
var shared struct {
	sync.Mutex
	block *sock.Block
	users int
}

func takeBlock() (*sock.Block, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.users == 0 {
		b, err := sock.NewBlock(socket.FillRandom)
		if err != nil {
			return nil, err
		}
		shared.block = b
	}
	shared.users++
	return shared.block, nil
}

func returnBlock() {
	shared.Lock()
	defer shared.Unlock()
	if shared.users--; shared.users == 0 {
		shared.block.Close()
		shared.block = nil
	}
}

// candidate is a transmitter under its name.
type candidate struct {
	mode string
	call int
	transmitter
}

func (c candidate) String() string {
	if c.mode == flow.ModeWrite || c.mode == flow.ModeSplice {
		return fmt.Sprintf("%s %d KiB", c.mode, c.call>>10)
	}
	return c.mode
}

// newCandidates are the methods that a mode leaves to choose from, the simplest first:
// always a plain write of a chunk, which nothing refuses.
func newCandidates(mode string, block *sock.Block, piece int) (list []candidate, notes []string) {
	if mode == flow.ModeCopy || mode == "" {
		return []candidate{{flow.ModeCopy, piece, &writes{data: chunk[:piece]}}}, nil
	}
	data := block.Bytes()
	add := func(of string, bytes int, p transmitter) { list = append(list, candidate{of, bytes, p}) }
	write := func(bytes int) { add(flow.ModeWrite, bytes, &writes{data: data[:bytes]}) }
	write(chunkBytes)
	all := mode == flow.ModeAuto
	if mode == flow.ModeWrite {
		write(256 << 10)
		write(512 << 10)
	}
	if all || mode == flow.ModeWrite {
		write(largeBytes)
	}
	if all || mode == flow.ModeSplice {
		if pipe, err := sock.NewPipe(); err != nil {
			notes = append(notes, "splice: "+err.Error())
		} else {
			splice := func(bytes int) {
				add(flow.ModeSplice, bytes, &splices{pipe: pipe, data: data[:largeBytes],
					pieces: bytes / sock.PieceBytes})
			}
			if all {
				splice(sock.PieceBytes)
			}
			splice(pipe.Size)
			if pipe.Size < largeBytes {
				notes = append(notes, fmt.Sprintf("splice: a pipe of %d KiB only (fs.pipe-user-pages-soft)",
					pipe.Size>>10))
			}
		}
	}
	if all || mode == flow.ModeSendfile {
		add(flow.ModeSendfile, largeBytes, &files{block: block})
	}
	if all || mode == flow.ModeZeroCopy {
		add(flow.ModeZeroCopy, zeroCopyBytes, &zeroCopies{data: data[:zeroCopyBytes]})
	}
	if !block.Huge && (all || mode == flow.ModeSendfile || mode == flow.ModeZeroCopy) {
		notes = append(notes, "no huge page: "+block.Plain)
	}
	return list, notes
}
