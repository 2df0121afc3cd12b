package budget

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

func source(text string) netip.Addr { return netip.MustParseAddr(text) }

// TestShares: a source gets as many places as it leaves to others.
func TestShares(t *testing.T) {
	b := &Budget{All: Use{Clients: 16}}
	admit := func(from string) (n int) {
		for {
			if _, err := b.Admit(source(from)); err != nil {
				return n
			}
			n++
		}
	}
	if n := admit("192.0.2.1"); n != 9 {
		t.Errorf("the first source has %d places, want 9 of 16", n)
	}
	if n := admit("192.0.2.2"); n != 4 {
		t.Errorf("the second source has %d places, want 4 of the 7 that are left", n)
	}
	a, err := b.Admit(source("2001:db8::1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Admit(source("2001:db8::2")); err != nil {
		t.Error(err) // 1 of 2 that are left
	}
	if _, err := b.Admit(source("2001:db8::3")); err == nil || !strings.Contains(err.Error(), "left to others") {
		t.Errorf("a third of one /64: %v", err)
	}
	a.Close()
	a.Close()
	if n := b.Used()[Clients]; n != 14 {
		t.Errorf("%d clients after one has left twice, want 14", n)
	}
	for _, bits := range []int{56, 48} { // one client of each /64 of a site
		b := &Budget{All: Use{Clients: 16}}
		var accounts []*Account
		for i := range 256 {
			at := [16]byte{0x20, 0x01, 0x0d, 0xb8}
			at[bits/8] = byte(i)
			if a, err := b.Admit(netip.AddrFrom16(at)); err == nil {
				accounts = append(accounts, a)
			}
		}
		if n := len(accounts); n != 9 {
			t.Errorf("a /%d has %d places, want 9 of 16", bits, n)
		}
		for _, a := range accounts {
			a.Close()
		}
		if len(b.sources) != 0 {
			t.Errorf("%v are left", b.sources)
		}
	}
	alone := &Budget{All: Use{Clients: 1}}
	if _, err := alone.Admit(source("192.0.2.1")); err != nil {
		t.Error(err)
	}
	if _, err := alone.Admit(source("192.0.2.2")); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("one more than there is room for: %v", err)
	}
}

// TestTake: what is more than a bound allows is refused by its name, and takes nothing.
func TestTake(t *testing.T) {
	b := &Budget{Each: Use{Threads: 3, Memory: 1 << 20}, All: Use{Clients: 4, Threads: 4}}
	b.Why[Threads] = "RLIMIT_NPROC"
	first, _ := b.Admit(source("192.0.2.1"))
	second, _ := b.Admit(source("192.0.2.2"))
	one, two := first.Lease(), second.Lease()
	if err := one.Take(Use{Threads: 3}); err != nil {
		t.Fatal(err)
	}
	err := one.Take(Use{Threads: 1})
	if !errors.Is(err, message.OutOfBounds) ||
		!strings.Contains(err.Error(), "1 threads: this server allows a client 3; expected fewer --threads") {
		t.Errorf("%v", err)
	}
	err = two.Take(Use{Threads: 2, Memory: 5})
	if !errors.Is(err, message.Exhausted) ||
		!strings.Contains(err.Error(), "4 for all clients (RLIMIT_NPROC), and 3 are in use") {
		t.Errorf("%v", err)
	}
	if u := b.Used(); u[Memory] != 0 {
		t.Errorf("what was refused has taken %d bytes", u[Memory])
	}
	if err := two.Take(Use{Memory: math.MaxInt64}); !errors.Is(err, message.OutOfBounds) {
		t.Errorf("%v", err)
	}
	one.End()
	one.End()
	if err := two.Raise(Use{Threads: 2}); err != nil {
		t.Error(err)
	}
	if err := two.Raise(Use{Threads: 3}); err != nil {
		t.Error(err)
	}
	first.Close()
	second.Close()
	two.End()
	if u := b.Used(); u != (Use{}) {
		t.Errorf("all have left, and %v is in use", u)
	}
}

// TestRoom: what the machine has left counts, too.
func TestRoom(t *testing.T) {
	b := &Budget{All: Use{Clients: 1}, Room: func(r Resource) (int64, string) {
		if r == Threads {
			return 5, "pids.max of the control group /a"
		}
		return 0, ""
	}}
	a, _ := b.Admit(source("192.0.2.1"))
	if err := a.Lease().Take(Use{Threads: 5, Flows: 100}); err != nil {
		t.Error(err)
	}
	if err := a.Lease().Take(Use{Threads: 6}); err == nil ||
		!strings.Contains(err.Error(), "pids.max of the control group /a") {
		t.Errorf("%v", err)
	}
}

// TestOfFlows: sums and products of absurd numbers are more than any bound, not less.
func TestOfFlows(t *testing.T) {
	o := message.FlowRequest{Spec: flow.Spec{Protocol: flow.RR, Connections: 64_000, Window: math.MaxInt64,
		SendBuffer: math.MaxInt64}}
	if u := OfFlows([]message.FlowRequest{o, o, o}); u[Buffers] != math.MaxInt64 || u[Connections] != 192_000 ||
		u[Threads] < 3 || u[Memory] <= 0 {
		t.Errorf("%v", u)
	}
	if u := OfWindow(math.MaxInt64, math.MaxInt32, math.MaxInt32); u[Memory] < 1<<40 || u[Samples] != math.MaxInt64 {
		t.Errorf("%v", u)
	}
}

// TestOfWaitingAnswers: answers that wait are taken from the budget, each connection's.
func TestOfWaitingAnswers(t *testing.T) {
	for _, protocol := range []string{flow.DNS, flow.DNSTCP, flow.DoT} {
		memory := func(s flow.Spec) int64 {
			s.Protocol, s.Connections = protocol, 1000
			return OfFlows([]message.FlowRequest{{Spec: s}})[Memory]
		}
		one, many := memory(flow.Spec{Think: 1}), memory(flow.Spec{Think: 1, Pipeline: 1000})
		if at := memory(flow.Spec{Pipeline: 1000}); one <= at || many < 1000*1000*2048 {
			t.Errorf("%s: %d bytes of answers at once, %d of one that waits, %d of 1000", protocol, at, one, many)
		}
	}
}

// TestGuesses: a source has some guesses at once, and then one in a while; others have theirs,
// and those of one site together some more. Sources without number do not have one forgotten
// that has to wait.
func TestGuesses(t *testing.T) {
	var g Guesses
	now := time.Now()
	a, b := source("192.0.2.1"), source("192.0.2.2")
	for range guessesAtOnce {
		if why := g.refused(a, now); why != "" {
			t.Fatal(why)
		}
		g.wrong(a, now)
	}
	if why := g.refused(a, now); !strings.Contains(why, "192.0.2.1: try again in") {
		t.Errorf("after %d wrong ones: %q", guessesAtOnce, why)
	}
	if why := g.refused(b, now); why != "" {
		t.Error(why)
	}
	if why := g.refused(a, now.Add(guessInterval+time.Second)); why != "" {
		t.Errorf("after a while: %s", why)
	}
	for bits, want := range map[int]int{56: guessesAtOnce << siteShift, 48: guessesAtOnce << (2 * siteShift)} {
		var g Guesses
		guesses := 0
		for round := range guessesAtOnce + 1 {
			for i := range 256 { // each /64 of a /56, or one of each /56 of a /48
				at := [16]byte{0x20, 0x01, 0x0d, 0xb8}
				at[bits/8] = byte(i)
				if one := netip.AddrFrom16(at); g.refused(one, now) == "" {
					g.wrong(one, now)
					guesses++
				} else if why := g.refused(one, now); round == 0 &&
					!strings.Contains(why, fmt.Sprintf("/%d: try", bits)) {
					t.Error(why)
				}
			}
		}
		if guesses != want {
			t.Errorf("a /%d has %d guesses at once, want %d", bits, guesses, want)
		}
	}
	one, neighbour := source("2001:db8:1:1::"), source("2001:db8:1:2::")
	for range guessesAtOnce {
		g.wrong(one, now)
	}
	if g.refused(one, now) == "" || g.refused(neighbour, now) != "" {
		t.Errorf("a /64 that has guessed: %q; another of its site: %q", g.refused(one, now), g.refused(neighbour, now))
	}
	for range 20 {
		g.wrong(a, now)
	}
	many := func(net byte, n int, at time.Time) {
		for i := range n {
			g.wrong(netip.AddrFrom4([4]byte{10, net, byte(i >> 8), byte(i)}), at)
		}
	}
	later := now
	for i := range byte(10) {
		later = later.Add(guessInterval + time.Second)
		many(i, mostGuessers/2, later)
	}
	if g.refused(a, later) == "" {
		t.Error("a source that has to wait is forgotten")
	}
	many(10, mostGuessers/2+100, later)
	if len(g.free) > mostGuessers {
		t.Errorf("%d sources are known", len(g.free))
	}
}
