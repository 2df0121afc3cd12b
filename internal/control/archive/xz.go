package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

const (
	// largestDictionary is the largest dictionary of LZMA2 that is allocated, in bytes: that of xz -9.
	largestDictionary = 64 << 20
	// mostDictionaries bounds those of all blocks of an archive, which takes some seconds: each block has its own, also
	// if it is empty.
	mostDictionaries = 16 << 30
)

// xzReader reads a file of xz(1) (The .xz File Format, version 1.2.1), which has streams of blocks.
// The reader of package xz allocates whatever dictionary a block asks for, up to 4 GiB; this one
// refuses those that are larger than largestDictionary. It reads blocks that are compressed with
// LZMA2 alone, as xz(1) writes them by default.
type xzReader struct {
	in    *bufio.Reader
	block io.Reader // of the block that is read; nil: none is
	count *counter  // the bytes of that block as they are in the file
	check hash.Hash // of the block's contents; nil: the stream has none
	kind  byte      // of the checks of the stream
	begun bool      // a stream's head was read
	// dictionaries is how many bytes of them may still be made.
	dictionaries *int64
}

var (
	xzHead   = []byte("\xfd7zXZ\x00")
	errXZ    = errors.New("xz: damaged")
	xzChecks = map[byte]int{0: 0, 1: 4, 4: 8, 10: 32} // size by kind
)

func newXZReader(in *bufio.Reader, dictionaries *int64) (io.Reader, error) {
	x := &xzReader{in: in, dictionaries: dictionaries}
	return x, x.head()
}

// damaged returns an error for what is not as the format demands. A file that is cut says so.
func damaged(err error) error {
	if err != nil {
		return fmt.Errorf("xz: %w", cut(err))
	}
	return errXZ
}

// cut turns the end of a file into one that is not expected.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (x *xzReader) take(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(x.in, b)
	return b, err
}

// head reads the head of a stream.
func (x *xzReader) head() error {
	b, err := x.take(12)
	if err != nil || !bytes.HasPrefix(b, xzHead) || b[6] != 0 {
		return damaged(err)
	}
	if _, known := xzChecks[b[7]]; !known {
		return fmt.Errorf("xz: a check of kind %d", b[7])
	}
	x.kind, x.begun = b[7], true
	return nil
}

func (x *xzReader) Read(p []byte) (int, error) {
	for {
		if x.block == nil {
			if err := x.next(); err != nil {
				return 0, err
			}
		}
		n, err := x.block.Read(p)
		if x.check != nil {
			x.check.Write(p[:n])
		}
		if errors.Is(err, io.EOF) {
			err = x.end()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next begins the next block. It returns io.EOF behind the last one.
func (x *xzReader) next() error {
	for {
		first, err := x.in.ReadByte()
		switch {
		case err != nil:
			return damaged(err)
		case first != 0:
			return x.blockHead(first)
		}
		if err := x.index(); err != nil {
			return err
		}
		for { // padding between streams
			b, err := x.in.Peek(4)
			if len(b) == 0 {
				return io.EOF
			}
			if len(b) < 4 {
				return damaged(err)
			}
			if !bytes.Equal(b, make([]byte, 4)) {
				break
			}
			_, _ = x.in.Discard(4)
		}
		if err := x.head(); err != nil {
			return err
		}
	}
}

// blockHead reads the head of a block, whose first byte is its size.
func (x *xzReader) blockHead(first byte) error {
	rest, err := x.take(int(first)*4 + 3)
	if err != nil {
		return damaged(err)
	}
	head := append([]byte{first}, rest[:len(rest)-4]...)
	if sum := rest[len(rest)-4:]; crc32.ChecksumIEEE(head) != uint32(sum[0])|uint32(sum[1])<<8|uint32(sum[2])<<16|
		uint32(sum[3])<<24 {
		return errXZ
	}
	flags, at := head[1], bytes.NewReader(head[2:])
	content := uint64(largestDictionary)
	for _, sized := range []byte{0x40, 0x80} { // compressed and uncompressed size
		if flags&sized == 0 {
			continue
		}
		n, err := number(at)
		if err != nil {
			return errXZ
		}
		if sized == 0x80 {
			content = min(content, n)
		}
	}
	id, err := number(at)
	size, err2 := number(at)
	bits, err3 := at.ReadByte()
	if errors.Join(err, err2, err3) != nil || flags&3 != 0 || id != 0x21 || size != 1 || bits > 40 {
		return errors.New("xz: a filter other than LZMA2")
	}
	dictionary := (uint64(2) | uint64(bits&1)) << (bits/2 + 11)
	if dictionary > largestDictionary {
		return fmt.Errorf("xz: it needs a dictionary of %d MiB: at most %d are allocated", dictionary>>20,
			largestDictionary>>20)
	}
	dictionary = max(min(dictionary, content), lzma.MinDictCap) // nothing is farther away than the block is long
	if *x.dictionaries -= int64(dictionary); *x.dictionaries < 0 {
		return fmt.Errorf("xz: its blocks need dictionaries of more than %d GiB", mostDictionaries>>30)
	}
	x.check = map[byte]func() hash.Hash{1: func() hash.Hash { return crc32.NewIEEE() },
		4: func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ECMA)) }, 10: sha256.New,
		0: func() hash.Hash { return nil }}[x.kind]()
	x.count = &counter{in: x.in}
	x.block, err = lzma.Reader2Config{DictCap: int(dictionary)}.NewReader2(x.count)
	return err
}

// end reads what follows a block, and compares its check.
func (x *xzReader) end() error {
	x.block = nil
	if _, err := x.take(int(-x.count.n & 3)); err != nil {
		return damaged(err)
	}
	want, err := x.take(xzChecks[x.kind])
	if err != nil {
		return damaged(err)
	}
	if x.check == nil {
		return nil
	}
	got := x.check.Sum(nil)
	if x.kind != 10 { // the sums of CRC are little-endian in the file
		for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
			got[i], got[j] = got[j], got[i]
		}
	}
	if !bytes.Equal(got, want) {
		return errXZ
	}
	return nil
}

// index reads the index and the foot of a stream behind the index's first byte.
func (x *xzReader) index() error {
	c := &counter{in: x.in, n: 1}
	records, err := number(c)
	for range 2 * records {
		if err != nil {
			break
		}
		_, err = number(c)
	}
	if err == nil {
		_, err = x.take(int(-c.n&3) + 4)
	}
	if err != nil {
		return damaged(err)
	}
	foot, err := x.take(12)
	if err != nil || foot[10] != 'Y' || foot[11] != 'Z' {
		return damaged(err)
	}
	return nil
}

// number reads a number of several bytes, seven bits in each.
func number(in io.ByteReader) (n uint64, err error) {
	for shift := 0; shift < 63; shift += 7 {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, errXZ
}

// counter counts the bytes that are read.
type counter struct {
	in *bufio.Reader
	n  int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
