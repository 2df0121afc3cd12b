package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"linerate/internal/control/active"
	"linerate/internal/control/notebook"
	"linerate/internal/control/run"
	"linerate/internal/model/plain"
	"linerate/internal/model/unit"
)

const waitUsage = "wait until no other run or measurement is active on this machine"

// claimActive marks this process as active on the machine. It warns of other active processes or, with
// wait, waits until there are none. Runs in the notebook also count, because some processes cannot
// be seen otherwise, such as those in a container. Without wait no problem here is an error: the
// claim is then nil.
func claimActive(ctx context.Context, s streams, what string, wait bool) (*active.Claim, error) {
	dir, work := active.Directory(), active.Work{What: what, Since: time.Now()}
	if wait {
		var latest time.Time // the latest that was printed
		claim, err := active.Wait(ctx, dir, work, func() []active.Work {
			return activeRuns(ctx)
		}, func(others []active.Work) {
			if time.Since(latest) >= every {
				latest = time.Now()
				say(s.hints(), "linerate: waiting: %s\n", spellWork(others))
			}
		})
		if ctx.Err() != nil {
			err = statusError{ExitInterrupted, errors.New("interrupted while waiting: nothing was measured")}
		}
		return claim, err
	}
	claim, others, err := active.Enter(dir, work)
	if err != nil {
		others = nil
	}
	if others = append(others, activeRuns(ctx)...); len(others) > 0 {
		say(s.err, "linerate: %s: two at once disturb each other; --wait waits for the end\n", spellWork(others))
	}
	return claim, nil
}

// isOf reports whether a process's work is that run: "run tune-5" or "run tune-5, of tune a.conf".
func isOf(work, run string) bool { return work == run || strings.HasPrefix(work, run+",") }

// distinct removes works that repeat another one: a run is both in the notebook and part of the
// work of its process.
func distinct(works []active.Work) (list []active.Work) {
	for _, w := range works {
		if !slices.ContainsFunc(list, func(other active.Work) bool { return isOf(other.What, w.What) }) {
			list = append(list, w)
		}
	}
	return list
}

// describing returns a function that sets the description of a claim to the run of each progress,
// and to the work that the run belongs to. distinct then recognises it as the run in the notebook.
func describing(claim **active.Claim, of string, show func(run.Progress)) func(run.Progress) {
	return func(p run.Progress) {
		(*claim).Describe(runTitle(p.Run, "") + ", of " + of)
		show(p)
	}
}

// activeRuns returns the runs in the notebook that a process holds.
func activeRuns(ctx context.Context) (works []active.Work) {
	store, err := readNotebook(ctx)
	if err != nil {
		return nil // there is no notebook, or the error is reported where it is used
	}
	defer store.Close()
	runs, _ := store.Runs(ctx, notebook.Filter{Active: true})
	for _, r := range runs {
		works = append(works, active.Work{What: runTitle(r.ID, r.Name), Since: r.Started.UTC()})
	}
	return works
}

// runTitle returns the name of a run as a description of work.
func runTitle(id, name string) string {
	return "run " + notebook.Reference{ID: id, Name: name}.String()
}

// spellWork says what is active, and since when.
func spellWork(works []active.Work) string {
	var parts []string
	for _, w := range distinct(works) {
		what := []rune(plain.Line(w.What))
		text := string(what[:min(len(what), 100)]) + " is active"
		if !w.Since.IsZero() {
			text += " since " + w.Since.UTC().Format("15:04:05 UTC") + " (" +
				unit.FormatTime(max(0, time.Since(w.Since))) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
