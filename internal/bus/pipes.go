package bus

import (
	"errors"
	"io"
	"net"
	"time"
)

// Pipes makes one stream of a reader and a writer, such as a process's stdout
// and stdin. It has no deadlines and no addresses.
func Pipes(r io.ReadCloser, w io.WriteCloser) net.Conn { return pipes{r, w} }

type pipes struct {
	io.ReadCloser
	w io.WriteCloser
}

func (p pipes) Write(data []byte) (int, error) { return p.w.Write(data) }

func (p pipes) Close() error { return errors.Join(p.w.Close(), p.ReadCloser.Close()) }

func (pipes) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (pipes) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (pipes) SetDeadline(time.Time) error      { return nil }
func (pipes) SetReadDeadline(time.Time) error  { return nil }
func (pipes) SetWriteDeadline(time.Time) error { return nil }
