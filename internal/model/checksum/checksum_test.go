package checksum

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestSum compares with the words added one by one, as RFC 1071 describes it, and an update
// with the checksum computed anew.
func TestSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for size := range 200 {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(random.Uint32() | random.Uint32())
		}
		want := uint32(0)
		for i, one := range b {
			want += uint32(one) << (8 * (1 - i%2))
			want = want>>16 + want&0xffff
		}
		if got := Fold(Sum(b)); got != uint16(want) {
			t.Errorf("%d bytes: %#x, want %#x", size, got, want)
		}
		if size < 8 {
			continue
		}
		b[0], b[1] = 0, 0
		binary.BigEndian.PutUint16(b, Of(b))
		was := append([]byte{}, b[4:8]...)
		binary.BigEndian.PutUint32(b[4:], random.Uint32())
		Update(b, was, b[4:8])
		if got := Fold(Sum(b)); got != 0xffff {
			t.Errorf("%d bytes, of which 4 were changed: %#x, want 0xffff", size, got)
		}
	}
}
