package budget

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/model/unit"
)

// Guesses limits how often a source, and the site that it is part of, may try tokens and
// passwords: some at once, and then one in a while (as PerSourcePenalties, sshd_config(5)).
// Its methods may be called from several goroutines.
type Guesses struct {
	mu   sync.Mutex
	free map[netip.Prefix]time.Time // when a prefix has no wrong guesses to wait for
}

// What a source may guess. Each further one of its prefixes may guess 1<<siteShift times as
// often as the one within it: no source uses up what others of its site may guess.
const (
	guessesAtOnce = 5
	guessInterval = 10 * time.Second
	siteShift     = 2
	// mostGuessers bounds the prefixes that are known.
	mostGuessers = 3 * 4096
)

// Wrong notes a wrong guess.
func (g *Guesses) Wrong(from netip.Addr) { g.wrong(greeting.Source(from), time.Now()) }

func (g *Guesses) wrong(source netip.Addr, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.free == nil {
		g.free = map[netip.Prefix]time.Time{}
	}
	guessing := prefixes(source)
	for i, p := range guessing {
		free := g.free[p]
		if free.Before(now) {
			free = now
		}
		g.free[p] = free.Add(guessInterval >> (i * siteShift))
	}
	if len(g.free) > mostGuessers {
		maps.DeleteFunc(g.free, func(_ netip.Prefix, free time.Time) bool { return !free.After(now) })
	}
	for other := range g.free { // any, when there are still too many
		if len(g.free) <= mostGuessers {
			break
		}
		if !slices.Contains(guessing, other) {
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
	for i, p := range prefixes(source) {
		free, known := g.free[p]
		wait := free.Sub(now) + guessInterval>>(i*siteShift) - guessesAtOnce*guessInterval
		if known && wait > 0 {
			return fmt.Sprintf("too many wrong tokens or passwords from %s: try again in %v", shown(p),
				unit.Duration(wait.Round(time.Second)+time.Second))
		}
	}
	return ""
}
