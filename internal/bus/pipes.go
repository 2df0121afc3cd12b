package bus

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Pipes combines a reader and a writer, such as a process's stdout and stdin, into one stream.
// It has no deadlines and no addresses. Once the reader has ended or the stream is closed, a
// write that the other end does not accept fails after a second: without that, a file that
// blocks, such as a character device, would block its writer forever.
func Pipes(r io.ReadCloser, w io.WriteCloser) net.Conn {
	return &pipes{r: r, w: w, over: make(chan struct{})}
}

type pipes struct {
	r    io.ReadCloser
	w    io.WriteCloser
	once sync.Once
	over chan struct{} // closed when nothing will be read any more
}

// untaken is how long a write may take when nothing will be read any more.
const untaken = time.Second

func (p *pipes) end() { p.once.Do(func() { close(p.over) }) }

func (p *pipes) Read(data []byte) (int, error) {
	n, err := p.r.Read(data)
	if err != nil {
		p.end()
	}
	return n, err
}

func (p *pipes) Write(data []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := bytes.Clone(data) // the caller has its own back, whatever becomes of the write
	go func() {
		n, err := p.w.Write(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-p.over:
	}
	select {
	case r := <-done:
		return r.n, r.err
	case <-time.After(untaken):
		return 0, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.end()
	return errors.Join(p.w.Close(), p.r.Close())
}

func (*pipes) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (*pipes) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (*pipes) SetDeadline(time.Time) error      { return nil }
func (*pipes) SetReadDeadline(time.Time) error  { return nil }
func (*pipes) SetWriteDeadline(time.Time) error { return nil }
