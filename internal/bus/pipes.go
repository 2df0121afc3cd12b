package bus

import (
	"errors"
	"io"
)

// Pipes makes one stream of a reader and a writer, such as a process's stdout
// and stdin.
func Pipes(r io.ReadCloser, w io.WriteCloser) io.ReadWriteCloser { return pipes{r, w} }

type pipes struct {
	io.ReadCloser
	w io.WriteCloser
}

func (p pipes) Write(data []byte) (int, error) { return p.w.Write(data) }

func (p pipes) Close() error { return errors.Join(p.w.Close(), p.ReadCloser.Close()) }
