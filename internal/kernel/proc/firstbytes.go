package proc

import "bytes"

// FirstBytes collects the output of a process: Most bytes, and one more if there are more; it discards the
// rest. The buffer is not embedded, because io.Copy would use its ReadFrom, which has no limit.
type FirstBytes struct {
	Most int
	kept bytes.Buffer
}

func (b *FirstBytes) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), max(0, b.Most+1-b.kept.Len()))])
	return len(p), nil
}

// Len, Bytes and String return what is kept.
func (b *FirstBytes) Len() int       { return b.kept.Len() }
func (b *FirstBytes) Bytes() []byte  { return b.kept.Bytes() }
func (b *FirstBytes) String() string { return b.kept.String() }
