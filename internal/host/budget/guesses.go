package budget

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/model/unit"
)

// Guesses limits how often a source may try tokens and passwords: some at once, and then
// one in a while (as PerSourcePenalties, sshd_config(5)). Its methods may be called from
// several goroutines.
type Guesses struct {
	mu   sync.Mutex
	free map[netip.Addr]time.Time // when a source has no wrong guesses to wait for
}

const (
	guessesAtOnce = 5
	guessInterval = 10 * time.Second
	// mostGuessers bounds the sources that are known.
	mostGuessers = 4096
)

// Wrong notes a wrong guess.
func (g *Guesses) Wrong(from netip.Addr) { g.wrong(greeting.Source(from), time.Now()) }

func (g *Guesses) wrong(source netip.Addr, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.free == nil {
		g.free = map[netip.Addr]time.Time{}
	}
	free := g.free[source]
	if free.Before(now) {
		free = now
	}
	g.free[source] = free.Add(guessInterval)
	for other := range g.free { // any, when there are too many
		if len(g.free) <= mostGuessers {
			break
		}
		if other != source {
			delete(g.free, other)
		}
	}
}

// Refused is why a source may not try now; empty: it may.
func (g *Guesses) Refused(from netip.Addr) string {
	return g.refused(greeting.Source(from), time.Now())
}

func (g *Guesses) refused(source netip.Addr, now time.Time) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	free, known := g.free[source]
	wait := free.Sub(now) - (guessesAtOnce-1)*guessInterval
	if !known || wait <= 0 {
		return ""
	}
	return fmt.Sprintf("too many wrong tokens or passwords from %s: try again in %v", source, unit.Duration(wait.Round(time.Second)+time.Second))
}
