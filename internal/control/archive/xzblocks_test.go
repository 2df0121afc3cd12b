package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
)

// sum appends the checksum of what precedes.
func sum(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)) }

// emptyBlocks is a file of xz with n blocks without content, each of which asks for a dictionary of 64 MiB.
func emptyBlocks(n int) []byte {
	flags := []byte{0, 0} // no checks
	text := slices.Concat([]byte(xzHead), flags, binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(flags)))
	block := slices.Concat(sum([]byte{2, 0, 0x21, 1, 28, 0, 0, 0}), []byte{0, 0, 0, 0}) // the end of LZMA2, and padding
	index := binary.AppendUvarint([]byte{0}, uint64(n))
	for range n {
		text = append(text, block...)
		index = append(index, 13, 0)
	}
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = sum(index)
	foot := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	return slices.Concat(text, index, binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(foot)), foot,
		[]byte("YZ"))
}

// TestEmptyBlocks: the dictionaries of all blocks are bounded, since each may have nothing in it: 1 MB of them would
// take an hour.
func TestEmptyBlocks(t *testing.T) {
	kerneltest.Slow(t)
	text := emptyBlocks(60_000)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if _, err := Read(ctx, bytes.NewReader(text), "x.xz"); err == nil ||
		!strings.Contains(err.Error(), "dictionaries") {
		t.Errorf("%v", err)
	}
	many := xzOf(t, bytes.Repeat([]byte(softnet), 20_000), "-9", "--block-size=4096", "-T2") // with their sizes
	if x, err := newXZReader(bufio.NewReader(bytes.NewReader(many)), new(int64(64<<20))); err != nil {
		t.Error(err)
	} else if n, err := io.Copy(io.Discard, x); err != nil || n != int64(20_000*len(softnet)) {
		t.Errorf("%d bytes, %v", n, err)
	}
}
