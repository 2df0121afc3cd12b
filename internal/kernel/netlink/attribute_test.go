package netlink

import "testing"

// FuzzAttributes: any bytes are read within their bounds, and attributes that were read
// are encoded and read again.
func FuzzAttributes(f *testing.F) {
	f.Add(appendUint32(appendText(nil, 3, "eth0"), 4, 1500))
	f.Add([]byte{4, 0, 1, 0, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		count := 0
		for a := range attributes(b) {
			again = appendAttribute(again, a.kind, a.data)
			count++
		}
		for a := range attributes(again) {
			_, _, _ = a.uint32(), a.uint64(), a.addr()
			count--
		}
		if count != 0 {
			t.Errorf("%d attributes were lost when encoded and read again", count)
		}
	})
}
