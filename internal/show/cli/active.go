package cli

import (
	"context"
	"errors"
	"io"
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

// enter marks this process as active on the machine. It warns of what else is, or with wait
// waits for it; runs of the notebook count that cannot be seen otherwise, as those of a
// container. Without wait nothing of this is an error: the claim is then nil.
func enter(ctx context.Context, said io.Writer, what string, wait bool) (*active.Claim, error) {
	dir, work := active.Directory(), active.Work{What: what, Since: time.Now()}
	if wait {
		var latest time.Time // said
		claim, err := active.Wait(ctx, dir, work, func() []active.Work {
			return activeRuns(ctx)
		}, func(others []active.Work) {
			if time.Since(latest) >= every {
				latest = time.Now()
				say(said, "linerate: waiting: %s\n", spellWork(others))
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
		say(said, "linerate: %s: two at once disturb each other; --wait waits for the end\n", spellWork(others))
	}
	return claim, nil
}

// isOf reports whether a process's work is that run: "run tune-5", "run tune-5, of tune a.conf".
func isOf(work, run string) bool { return work == run || strings.HasPrefix(work, run+",") }

// distinct is the works without those that another is: a run is one of this notebook and
// the work of its process.
func distinct(works []active.Work) (list []active.Work) {
	for _, w := range works {
		if !slices.ContainsFunc(list, func(other active.Work) bool { return isOf(other.What, w.What) }) {
			list = append(list, w)
		}
	}
	return list
}

// describing names the run of each progress in a claim, with the work that it is of: it is in
// the notebook as well, and is one thing.
func describing(claim **active.Claim, of string, show func(run.Progress)) func(run.Progress) {
	return func(p run.Progress) {
		(*claim).Describe(runTitle(p.Run, "") + ", of " + of)
		show(p)
	}
}

// activeRuns are the runs of the notebook that a process holds.
func activeRuns(ctx context.Context) (works []active.Work) {
	store, err := readNotebook(ctx)
	if err != nil {
		return nil // there is none, or it is reported where it is used
	}
	defer store.Close()
	runs, _ := store.Runs(ctx, notebook.Filter{Active: true})
	for _, r := range runs {
		works = append(works, active.Work{What: runTitle(r.ID, r.Name), Since: r.Started.UTC()})
	}
	return works
}

// runTitle names a run as work.
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
