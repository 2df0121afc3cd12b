package greeting

import (
	"net/netip"
	"testing"
)

// TestQueue: those that wait longest make room, of the source that has the most.
func TestQueue(t *testing.T) {
	q := NewQueue(8) // 2 of each source
	ended := map[string]int{}
	enter := func(name, from string) *Waiter { return q.Enter(netip.MustParseAddr(from), func() { ended[name]++ }) }
	first := enter("a1", "192.0.2.1")
	enter("a2", "192.0.2.1")
	third := enter("a3", "192.0.2.1")
	if ended["a1"] != 1 || q.Len() != 2 {
		t.Errorf("a third of one source: ended %v, %d wait", ended, q.Len())
	}
	if first.Leave() || !third.Leave() || third.Leave() {
		t.Error("one that was replaced has left, or one that was there has not, or twice")
	}
	for _, from := range []string{"192.0.2.2", "192.0.2.3", "192.0.2.4"} {
		enter(from, from)
		enter(from, from)
	}
	enter("b", "192.0.2.5") // 8 wait
	enter("c", "192.0.2.6")
	if q.Len() != 8 || ended["b"]+ended["c"]+ended["a2"] != 0 || ended["192.0.2.2"]+ended["192.0.2.3"]+
		ended["192.0.2.4"] != 1 {
		t.Errorf("a ninth: %d wait, ended %v", q.Len(), ended)
	}
}
