// Package pcapfile reads capture files: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), also
// compressed by gzip, zstd or bzip2.
//
// pcap.go and pcapng.go read the two formats, format.go recognises other files. It changes no packet: what to do
// with one that is incomplete or of an unexpected link type is up to the caller. Files are untrusted: whatever
// they contain, memory is bounded, and a reader returns each packet that is complete before it fails.
package pcapfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Limits of a file.
const (
	// mostPacket is the maximum size of a packet, in bytes; a larger one in the file means damage. BIG TCP makes
	// the largest known ones, of half of it.
	mostPacket = 1 << 20
	// mostOptions is the maximum size of what else a block with a packet contains.
	mostOptions = 1 << 18
	// mostBetween is the maximum number of bytes between two packets.
	mostBetween = 64 << 20
	// mostInterfaces is the maximum number of interfaces of a section, since each takes memory.
	mostInterfaces = 4096
	// mostWindow is the memory for decompression by zstd: that of zstd --long or --ultra.
	mostWindow = 128 << 20
)

// Packet is a packet of a file.
type Packet struct {
	Data   []byte // what the file has of it; valid until the next call of Next
	Length int    // bytes that were on the link, at least len(Data)
	// At is when it was captured. The zero value: the file does not say.
	At   time.Time
	Link LinkType
	// FCS means that the file announces a frame check sequence behind each packet; Length includes it.
	FCS bool
}

// Cut is the error of a file that ends early, as when its writer was killed or the disk was full. Everything
// before it has been read.
type Cut struct {
	// After is the number of complete packets before.
	After int
	// InPacket means that the packet after them is there in part; otherwise the file ends in a block without a
	// packet, or its compressed data ends.
	InPacket bool
	// Missing is how many bytes are known to be missing: the rest of that packet or block. 0: unknown.
	Missing int
}

func (c *Cut) Error() string {
	where := fmt.Sprintf("after frame %d", c.After)
	if c.InPacket {
		where = fmt.Sprintf("in frame %d", c.After+1)
	}
	if c.Missing == 0 {
		return "the file ends early, " + where
	}
	return fmt.Sprintf("the file ends %s: at least %d bytes are missing", where, c.Missing)
}

// Damage is the error of a file whose content is invalid behind the packets that were read.
type Damage struct {
	After int // number of complete packets before
	Why   string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("the file is damaged behind frame %d: %s", d.After, d.Why)
}

// Reader reads the packets of a file.
type Reader struct {
	source  *source
	from    *bufio.Reader
	next    func() (Packet, error)
	packets int
	between int    // bytes since the last packet
	buffer  []byte // of the last read
}

// source is the file as it was opened, and the error of reading it.
type source struct {
	io.Reader
	failed error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil && err != io.EOF {
		s.failed = err
	}
	return n, err
}

// Open returns a reader of a capture file. The error says what else the file seems to be.
func Open(from io.Reader) (*Reader, error) {
	r := &Reader{source: &source{Reader: from}}
	r.from = bufio.NewReaderSize(r.source, 1<<16)
	begin, err := r.peek()
	if err != nil {
		return nil, err
	}
	unpacked, err := decompress(begin, r.from)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if unpacked != nil {
		r.from = bufio.NewReaderSize(unpacked, 1<<16)
		if begin, err = r.peek(); err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
	}
	switch {
	case len(begin) == 0:
		return nil, errors.New("the file is empty: tcpdump(8) writes what it has captured when its buffer is full or " +
			"it ends (-U: after each frame)")
	case bytes.HasPrefix(begin, []byte(sectionHeader)):
		r.next = (&pcapng{Reader: r}).read
		return r, nil
	}
	p, err := openPcap(r, begin)
	if err != nil {
		return nil, err
	}
	r.next = p.read
	return r, nil
}

// peek returns the first bytes of the file, fewer if it is shorter.
func (r *Reader) peek() ([]byte, error) {
	const enough = 512
	begin, err := r.from.Peek(enough)
	if err == io.EOF || len(begin) > 0 {
		return begin, nil // reading on returns the error again
	}
	return nil, err
}

// decompress returns a reader of the content of a compressed file; nil if it begins otherwise.
func decompress(begin []byte, from io.Reader) (io.Reader, error) {
	switch {
	case bytes.HasPrefix(begin, []byte("\x1f\x8b")):
		return gzip.NewReader(from)
	case bytes.HasPrefix(begin, []byte("\x28\xb5\x2f\xfd")):
		return zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(mostWindow))
	case bytes.HasPrefix(begin, []byte("BZh")):
		return bzip2.NewReader(from), nil
	}
	return nil, nil
}

// Next returns the next packet. The error is io.EOF at the end of a complete file, otherwise a *Cut, a *Damage or
// one of reading.
func (r *Reader) Next() (Packet, error) {
	p, err := r.next()
	if err != nil {
		return Packet{}, err
	}
	r.packets++
	r.between = 0
	return p, nil
}

// onLink returns the length of a packet on the link, as the file says it. It is not trusted: it fits an int, and no
// packet is shorter than its part in the file.
func onLink(captured, length uint32) int { return int(min(max(captured, length), 1<<30)) }

// damage returns an error for what is invalid behind the packets that were read.
func (r *Reader) damage(format string, args ...any) error {
	return &Damage{r.packets, fmt.Sprintf(format, args...)}
}

// read reads n bytes, valid until the next call. rest is how many bytes of the same packet or block follow them.
// first means that the file may end before them.
func (r *Reader) read(n, rest int, inPacket, first bool) ([]byte, error) {
	if cap(r.buffer) < n {
		r.buffer = make([]byte, n)
	}
	b := r.buffer[:n]
	have, err := io.ReadFull(r.from, b)
	r.between += have
	if err == nil {
		return b, nil
	}
	return nil, r.ended(err, have, n-have+rest, inPacket, first)
}

// skip reads over n bytes of a block without a packet, of which rest follow.
func (r *Reader) skip(n, rest int) error {
	if r.between += n; r.between > mostBetween {
		return r.damage("more than %d bytes without a frame", mostBetween)
	}
	have, err := r.from.Discard(n)
	if err == nil {
		return nil
	}
	return r.ended(err, have, n-have+rest, false, false)
}

// ended returns the error of a read that returned have bytes, and missed others.
func (r *Reader) ended(err error, have, missing int, inPacket, first bool) error {
	switch {
	case err == io.EOF && have == 0 && first:
		return io.EOF
	case first && have == 0:
		missing = 0 // of compressed data
		inPacket = false
	}
	switch {
	case r.source.failed != nil:
		return r.source.failed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Cut{r.packets, inPacket, missing}
	}
	return r.damage("%v", err)
}
