//go:build !portable

package sock

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/sched"
)

// block makes a block that counts up in every byte.
func block(t *testing.T) *Block {
	t.Helper()
	b, err := NewBlock(func(data []byte) {
		for i := range data {
			data[i] = byte(i * 7 >> 3)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// quickPair is a tcpPair whose ends do not block, as the runtime's do not.
func quickPair(t *testing.T) (near, far int) {
	t.Helper()
	near, far = tcpPair(t)
	for _, fd := range []int{near, far} {
		if err := unix.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
	}
	return near, far
}

// collect reads exactly n bytes.
func collect(t *testing.T, fd, n int) []byte {
	t.Helper()
	var all []byte
	buffer := make([]byte, 1<<16)
	for end := time.Now().Add(10 * time.Second); len(all) < n; {
		got, err := Receive(fd, buffer)
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			t.Fatal(err)
		}
		if all = append(all, buffer[:got]...); time.Now().After(end) {
			t.Fatalf("%d of %d bytes arrived", len(all), n)
		}
	}
	return all
}

func TestBlock(t *testing.T) {
	b := block(t)
	if len(b.Bytes()) != blockBytes || b.Bytes()[800] != 800*7>>3&0xff {
		t.Errorf("%d bytes, the 801st is %d", len(b.Bytes()), b.Bytes()[800])
	}
	if b.Huge == (b.Plain != "") {
		t.Errorf("huge %v, but %q; want one of them", b.Huge, b.Plain)
	}
	t.Logf("huge: %v %s", b.Huge, b.Plain)
}

// TestSendingMethods: what each method reports as sent arrives, and is the block's
// content, over and over.
func TestSendingMethods(t *testing.T) {
	b := block(t)
	const size, piece = 256 << 10, 65160
	var pieces []byte // what a pipe is filled with
	splice := func(most int) func(fd int) func() (int, error) {
		return func(fd int) func() (int, error) {
			p := filledPipe(t, b, piece)
			pieces = pieces[:0]
			for at := 0; len(pieces) < p.stocked; at += PieceBytes {
				pieces = append(pieces, b.Bytes()[at:at+piece]...)
			}
			return func() (int, error) {
				n, err := p.Send(fd, most)
				if n > most*piece {
					t.Errorf("%d bytes in one call, want at most %d pieces of %d", n, most, piece)
				}
				return n, err
			}
		}
	}
	for name, prepare := range map[string]func(fd int) func() (int, error){
		"splice 1":  splice(1),
		"splice 16": splice(16),
		"sendfile": func(fd int) func() (int, error) {
			var at int64
			return func() (int, error) { return b.SendFile(fd, &at, size) }
		},
		"zerocopy": func(fd int) func() (int, error) {
			if err := SetZeroCopy(fd); err != nil {
				t.Fatal(err)
			}
			sent := 0 // where the next byte is: what was not taken is sent again
			return func() (int, error) {
				n, err := Transmit(fd, b.Bytes()[sent%size:size], true)
				sent += n
				return n, err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := quickPair(t)
			send := prepare(near)
			var got []byte
			for len(got) < 3*blockBytes {
				n, err := send()
				if err != nil && !errors.Is(err, unix.EAGAIN) {
					t.Fatal(err)
				}
				got = append(got, collect(t, far, n)...)
			}
			period := pieces
			switch name {
			case "sendfile":
				period = b.Bytes()
			case "zerocopy":
				period = b.Bytes()[:size]
			}
			for at := 0; at < len(got); at += len(period) {
				part := got[at:min(at+len(period), len(got))]
				if !bytes.Equal(part, period[:len(part)]) {
					t.Fatalf("what came after %d bytes is not the block's content", at)
				}
			}
		})
	}
}

// TestCompletions: every zero-copy send completes, once.
func TestCompletions(t *testing.T) {
	b := block(t)
	near, far := quickPair(t)
	if err := SetZeroCopy(near); err != nil {
		t.Fatal(err)
	}
	var queue ErrorQueue
	if over, _, err := queue.Completions(near); over != 0 || err != nil {
		t.Errorf("before anything was sent: %d, %v; want nothing", over, err)
	}
	const sends = 5
	for range sends {
		n, err := Transmit(near, b.Bytes()[:8192], true)
		if err != nil {
			t.Fatal(err)
		}
		collect(t, far, n)
	}
	var over int
	for end := time.Now().Add(10 * time.Second); over < sends && time.Now().Before(end); {
		n, copied, err := queue.Completions(near)
		if err != nil || copied > n {
			t.Fatalf("%d over, %d of them copied, %v", n, copied, err)
		}
		over += n
	}
	if over != sends {
		t.Errorf("%d sends are over, want %d", over, sends)
	}
}

// filledPipe is a pipe that is filled from a block.
func filledPipe(t *testing.T, b *Block, piece int) *Pipe {
	t.Helper()
	p, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if p.Filled() {
		t.Error("a new pipe is filled")
	}
	if err := p.Fill(b.Bytes(), piece); err != nil || !p.Filled() {
		t.Fatalf("filling a pipe: %v", err)
	}
	return p
}

// TestPipe: it holds whole pieces, as many as there is room for, and in buffers
// longer than a page; it can be closed twice.
func TestPipe(t *testing.T) {
	b := block(t)
	for _, piece := range []int{1, 5000, bufferBytes, 65160, PieceBytes, 1 << 20} {
		p := filledPipe(t, b, piece)
		piece = min(piece, PieceBytes)
		slots := p.Size / bufferBytes
		if slots < leastSlots || slots > pipeSlots {
			t.Errorf("%d slots, want from %d to %d", slots, leastSlots, pipeSlots)
		}
		if p.stocked%piece != 0 || p.stocked > p.Size {
			t.Errorf("%d bytes are stocked, in pieces of %d, where %d have room", p.stocked, piece, p.Size)
		}
		if piece == PieceBytes && p.stocked <= slots*os.Getpagesize() && os.Getpagesize() < bufferBytes {
			t.Errorf("%d slots hold %d bytes: no more than pages", slots, p.stocked)
		}
		p.Close()
		p.Close()
		if _, err := p.Send(0, 1); !errors.Is(err, unix.EBADF) {
			t.Errorf("sending from a closed pipe: %v", err)
		}
	}
}

// TestPipeWithoutRoom: who has no descriptors left for a pipe, or for what fills
// it, gets an error.
func TestPipeWithoutRoom(t *testing.T) {
	b := block(t)
	p, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &was) }()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	if err := p.Fill(b.Bytes(), 65160); !errors.Is(err, unix.EMFILE) || p.Filled() {
		t.Errorf("filling: %v (filled: %v); want EMFILE", err, p.Filled())
	}
	if p, err := NewPipe(); !errors.Is(err, unix.EMFILE) {
		t.Errorf("making: %v, %v; want EMFILE", p, err)
	}
}

func TestWaiter(t *testing.T) {
	near, far := quickPair(t)
	var w sched.Poller
	begin := time.Now()
	if failed, err := w.Wait(far, false, 20*time.Millisecond); failed || err != nil {
		t.Errorf("nothing to read: %v, %v", failed, err)
	}
	if spent := time.Since(begin); spent < 10*time.Millisecond {
		t.Logf("woken after %v", spent) // a signal may end it
	}
	if failed, err := w.Wait(near, true, time.Hour); failed || err != nil {
		t.Errorf("room to write: %v, %v", failed, err)
	}
	if _, err := Transmit(near, []byte("x"), false); err != nil {
		t.Fatal(err)
	}
	if failed, err := w.Wait(far, false, time.Hour); failed || err != nil {
		t.Errorf("a byte to read: %v, %v", failed, err)
	}
	if cpu, ok := sched.ThreadCPU(0); cpu <= 0 || !ok {
		t.Error("this thread has used no processor time")
	}
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	w.Sleep(time.Microsecond)
}

// TestNoMemory: sending, receiving and waiting take no memory.
func TestNoMemory(t *testing.T) {
	b := block(t)
	near, far := quickPair(t)
	if err := SetZeroCopy(near); err != nil {
		t.Fatal(err)
	}
	const size = 16 << 10
	p := filledPipe(t, b, size)
	var at int64
	queue, wait, buffer := new(ErrorQueue), new(sched.Poller), make([]byte, 1<<16)
	if n := testing.AllocsPerRun(50, func() {
		for range 4 { // until there is no room, too
			_, _ = p.Send(near, 16)
			_, _ = b.SendFile(near, &at, size)
			_, _ = Transmit(near, b.Bytes()[:size], false)
			_, _ = Transmit(near, b.Bytes()[:size], true)
			_, _, _ = queue.Completions(near)
		}
		_, _ = wait.Wait(near, true, 0)
		_, _ = Receive(far, buffer)
		_, _ = Discard(far, size)
		wait.Sleep(time.Microsecond)
	}); n != 0 {
		t.Errorf("%v allocations per round, want none", n)
	}
}
