package transaction

// schedule says when the transactions of a flow with a pace are to begin. They
// are numbered from 0, and evenly apart; number n is for connection n modulo the
// flow's connections, so that these take turns.
type schedule struct {
	start int64
	gapNs float64 // from one to the next
}

func scheduleOf(start int64, perSecond float64) schedule {
	return schedule{start, 1e9 / perSecond}
}

// due is when a transaction is to begin.
func (s schedule) due(n int64) int64 { return s.start + int64(float64(n)*s.gapNs) }

// part is the connections that a thread has of a flow's: each step-th, from first.
type part struct{ first, step, all int64 }

// of is the part that the i-th of n threads gets.
func (p part) of(i, n int) part { return part{p.first + int64(i)*p.step, p.step * int64(n), p.all} }

// size is how many there are.
func (p part) size() int {
	if p.first >= p.all {
		return 0
	}
	return int((p.all - p.first + p.step - 1) / p.step)
}

// number is the schedule's number of a connection's transaction in a round.
func (p part) number(connection int, round int64) int64 {
	return p.first + int64(connection)*p.step + round*p.all
}
