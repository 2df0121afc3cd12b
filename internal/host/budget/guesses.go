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

// Guesses limits how often a source, and the site it belongs to, may try tokens and passwords: a few at once,
// then one per interval (like PerSourcePenalties, sshd_config(5)). Its methods are safe for concurrent use.
type Guesses struct {
	mu   sync.Mutex
	free map[netip.Prefix]time.Time // when a prefix may guess freely again
}

// Limits of guesses. Each shorter prefix of a source may guess 1<<siteShift times as often as the next longer
// one, so that no source uses up what others of its site may guess.
const (
	guessesAtOnce = 5
	guessInterval = 10 * time.Second
	siteShift     = 2
	// mostGuessers limits the prefixes that are stored.
	mostGuessers = 3 * 4096
)

// Judge counts a wrong guess, and returns why the result of a guess must not be sent to its source now;
// empty: it may. It is called when the result is known, not when the source connects: otherwise a source
// with many connections could guess with all of them at once.
func (g *Guesses) Judge(from netip.Addr, right bool) (refused string) {
	return g.judge(greeting.Source(from), right, time.Now())
}

func (g *Guesses) judge(source netip.Addr, right bool, now time.Time) (refused string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if refused = g.refused(source, now); refused == "" && !right {
		g.wrong(source, now)
	}
	return refused
}

// Refused returns why a source may not try now; empty if it may.
func (g *Guesses) Refused(from netip.Addr) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused(greeting.Source(from), time.Now())
}

// wrong records a wrong guess. The caller holds mu.
func (g *Guesses) wrong(source netip.Addr, now time.Time) {
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
	for other := range g.free { // any one, if there are still too many
		if len(g.free) <= mostGuessers {
			break
		}
		if !slices.Contains(guessing, other) {
			delete(g.free, other)
		}
	}
}

func (g *Guesses) refused(source netip.Addr, now time.Time) string {
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
