package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/unit"
	"linerate/internal/science/diagnose/rule"
)

const ownBacklog = "nginx: listen … backlog=N; Apache: ListenBacklog; HAProxy: backlog; Redis: tcp-backlog; Netty: " +
	"SO_BACKLOG; Java, Python: an argument, 50 and 128 at most otherwise; Go takes somaxconn"

const readFaster = "have the program read faster, or send to it at a lower rate"

var _ = later(func() {
	spell(func(_ string, a fact.Apart) string {
		return fmt.Sprintf("up to %d of them are of another cause: %s", a.Packets, apart[a.Cause])
	})
	spell(func(_ string, p fact.Part) string {
		of := strings.Join(p.Counters, " + ")
		if p.Grew > p.Of { // it need not be a part: TCP's timer also runs out where nothing is sent
			return fmt.Sprintf("that is %.4g for each of %s, %d", float64(p.Grew)/float64(p.Of), of, p.Of)
		}
		return fmt.Sprintf("that is %s of %s, %d", unit.FormatPercent(float64(p.Grew)/float64(p.Of)), of, p.Of)
	})
	spell(func(_ string, l fact.Listener) string {
		return fmt.Sprintf("%s: %d connections wait for accept(2), its backlog is %d", l.Local, l.Queued, l.Backlog) +
			program(l.Program)
	})
	spell(func(_ string, s fact.DroppingSocket) string {
		row := fmt.Sprintf("udp %s: %d datagrams dropped since it was opened, %d bytes wait to be read", s.Local,
			s.Drops, s.Queued)
		if s.BufferBytes > 0 {
			row += fmt.Sprintf(" in a buffer of %d", s.BufferBytes)
		}
		return row + program(s.Program)
	})
	spell(func(_ string, c fact.Unread) string {
		return fmt.Sprintf("%s from %s: %d bytes wait to be read", c.Local, c.Remote, c.Bytes)
	})
	spell(func(_ string, c fact.Retransmitted) string {
		if c.AssumedMSS > 0 {
			return fmt.Sprintf("%s to %s: %d of about %d segments were sent again, at %d bytes in each", c.Local,
				c.Remote, c.Segments, c.Of, c.AssumedMSS)
		}
		return fmt.Sprintf("%s to %s: %d of %d segments were sent again", c.Local, c.Remote, c.Segments, c.Of)
	})

	advise(func(b hint.ProgramBacklog) string {
		return fmt.Sprintf(
			"a larger backlog in the program's listen(2), and start it again (%s); net.core.somaxconn is %d, above "+
				"its backlog, and does not bound it",
			ownBacklog, b.Somaxconn)
	})
	advise(func(hint.LargerBacklog) string {
		return "a larger backlog in the program's listen(2), up to the largest that is granted, and after that " +
			"start it again:"
	})
	advise(func(b hint.ForcedBuffer) string {
		return fmt.Sprintf(
			"%s; its buffer is %s, and net.core.rmem_max, %d, which bounds only SO_RCVBUF, does not bound it",
			readFaster,
			unit.FormatBytes(float64(b.Bytes)), b.Most)
	})
	advise(func(hint.OwnBuffer) string {
		return "against bursts a larger buffer by the program's own option (linerate: --window)"
	})
	advise(func(b hint.BufferUpTo) string {
		return fmt.Sprintf("%s, or set a larger SO_RCVBUF (linerate: --window), up to net.core.rmem_max, %d",
			readFaster,
			b.Most)
	})
	advise(func(hint.LargerBuffer) string {
		return readFaster + ", or set a larger SO_RCVBUF (linerate: --window); the largest that it can set:"
	})
})

// apart has the text for the values of fact.Apart.Cause.
var apart = map[string]string{
	fact.FragmentsRefused: "a queue of this host was full and dropped fragments, which FragFails counts as well",
	fact.BeforeRoutes:     "a few packets of IPv6 come before an interface has its routes",
	fact.NamesLookedUp: "a host that reaches others by IPv6 alone counts each IPv4 address of a name that it " +
		"looks up",
}

func program(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// grew returns how much counters must grow for a finding.
func grew(g rule.Growing) string {
	text := strings.Join(g.Counters, " + ") + " grew"
	if g.Least > 1 {
		text += fmt.Sprintf(" by at least %d", g.Least)
	}
	if g.Share > 0 {
		text += fmt.Sprintf(", and %g %% of %s", 100*g.Share, strings.Join(g.Of, " + "))
	}
	if g.PerS > 0 {
		text += fmt.Sprintf(", possible below %g a second", g.PerS)
	}
	return text
}
