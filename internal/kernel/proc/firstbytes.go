package proc

import "bytes"

// FirstBytes is a standard output or error of a process of which Most bytes are kept, and one
// more where there are more; the rest is discarded. The buffer is not embedded: io.Copy would
// fill it by its ReadFrom, without a bound.
type FirstBytes struct {
	Most int
	kept bytes.Buffer
}

func (b *FirstBytes) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), max(0, b.Most+1-b.kept.Len()))])
	return len(p), nil
}

// Len, Bytes and String are those of what is kept.
func (b *FirstBytes) Len() int       { return b.kept.Len() }
func (b *FirstBytes) Bytes() []byte  { return b.kept.Bytes() }
func (b *FirstBytes) String() string { return b.kept.String() }
