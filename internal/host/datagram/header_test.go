package datagram

import "testing"

// FuzzTake: whatever comes in, taking it for data counts what there is and nothing
// else.
func FuzzTake(f *testing.F) {
	f.Add(packed(20, 1, 0, 1, 2).data, 20)
	f.Add([]byte("linerate"), 0)
	f.Add([]byte{}, -1)
	f.Fuzz(func(t *testing.T, b []byte, segment int) {
		var l tracker
		l.addMessage(whole(b, segment), func(s []byte) {
			if len(s) > len(b) {
				t.Errorf("a stray of %d bytes out of %d", len(s), len(b))
			}
		})
		if l.received+l.lost != int64(l.next) || l.received < 0 || l.lost < 0 || l.bytes > int64(len(b)) ||
			l.arrivedBytes != int64(len(b)) {
			t.Errorf("%+v with %d the next, of %d bytes", l.counts, l.next, len(b))
		}
	})
}
