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

// transmitter hands a flow's bytes to the kernel by one kind of system call.
type transmitter interface {
	// push sends what the socket accepts now, without waiting.
	push(fd int) (int, error)
	// drain reads the transmitter's messages from the socket's error queue.
	drain(fd int)
	// note returns what deviated from the request in sending; empty: nothing.
	note() string
	close()
}

// largeBytes is the size of a large send; at 140 Gbit/s it takes 60 µs.
const largeBytes = 1 << 20

// noCompletions provides empty drain, note and close methods.
type noCompletions struct{}

func (noCompletions) drain(int)    {}
func (noCompletions) note() string { return "" }
func (noCompletions) close()       {}

// writes sends by copying from memory.
type writes struct {
	noCompletions
	data []byte
}

func (p *writes) push(fd int) (int, error) { return sock.Transmit(fd, p.data, false) }

// splices sends references to pages through a pipe, which several of them may share because only one is in use
// at a time.
type splices struct {
	noCompletions
	pipe   *sock.Pipe
	data   []byte
	pieces int // maximum per call
}

// packetBytes is the most that TCP puts into a packet for the network device: 64 KiB minus headers
// (sk_setup_caps, MAX_TCP_HEADER), of which it uses a multiple of the segment size.
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

// files sends from a file in memory (sendfile).
type files struct {
	noCompletions
	block *sock.Block
	at    int64
}

func (p *files) push(fd int) (int, error) { return p.block.SendFile(fd, &p.at, largeBytes) }

// zeroCopies lends pages to the kernel until the kernel reports that it is done.
type zeroCopies struct {
	data      []byte
	queue     sock.ErrorQueue
	wait      sched.Poller
	pending   int // sends not yet completed
	denied    int // consecutive refused sends
	completed int
	copied    int // completed sends that were copied after all
	allowed   bool
}

// zeroCopyBytes is what one call lends. The kernel counts all of it as locked, however little the socket
// accepts; all flows of an ordinary user may lock 8 MiB.
const zeroCopyBytes = chunkBytes

// zeroCopyPending is how many sends may be outstanding before the error queue is read.
const zeroCopyPending = 16

// zeroCopyRetries is how many consecutive refusals end the use of this transmitter: about 50 ms.
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
		// This user's flows have lent too much; completions will free it.
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

// isUnsupported reports whether err means that the call is unavailable rather than the connection broken.
func isUnsupported(err error) bool {
	errnos := []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EINVAL, syscall.EOPNOTSUPP,
		syscall.ENOPROTOOPT, syscall.ENOMEM, syscall.ENOBUFS}
	return slices.ContainsFunc(errnos, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}

// The block of memory that all transmitters of this process send from. It exists while any of them does.
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

// candidate is a named transmitter.
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

// newCandidates returns the methods that a mode allows, the simplest first: always a plain write of a chunk,
// which cannot be refused.
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
