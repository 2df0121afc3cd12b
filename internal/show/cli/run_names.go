package cli

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
)

// This file lists the names of the notebook's runs, for completion and messages.

// The shell asks for completions at each press of a key. So completion gives up after
// completionTime, offers at most mostCompletions, and prints no errors.
const (
	completionTime  = time.Second
	mostCompletions = 100
)

// runNames returns the latest runs, by ID and by name, without those that the line already has. The
// shells quote a name with spaces.
func runNames(_ *pflag.FlagSet, args []string) []string {
	return runsOf(args, func(notebook.Summary) bool { return true })
}

func runsOf(args []string, wanted func(notebook.Summary) bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	location, err := notebook.Location(os.Getenv)
	if err != nil {
		return nil
	}
	store, err := notebook.OpenerOf(location).OpenReadOnly(ctx, location)
	if err != nil {
		return nil
	}
	defer store.Close()
	runs, err := store.Runs(ctx, notebook.Filter{Limit: mostCompletions})
	if err != nil {
		return nil
	}
	var names []string
	if i := slices.IndexFunc(runs, func(r notebook.Summary) bool { return r.Trials > 0 }); i >= 0 && wanted(runs[i]) {
		names = []string{"latest"}
	}
	runs = slices.DeleteFunc(runs, func(r notebook.Summary) bool { return !wanted(r) })
	for _, r := range runs {
		id := r.ID
		if r.Status == notebook.Interrupted {
			id += "\t" + r.Status
		}
		names = append(names, id)
	}
	for _, r := range runs {
		if notebook.CheckName(r.Name) == nil {
			names = append(names, r.Name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		name, _, _ = strings.Cut(name, "\t")
		return slices.Contains(args, name)
	})
}

// isRun reports whether the notebook has a run of that ID or name.
func isRun(name string) bool {
	return name != "latest" && slices.Contains(bare(runNames(nil, nil)), name)
}

// bare returns completions without their descriptions.
func bare(list []string) (names []string) {
	for _, name := range list {
		name, _, _ = strings.Cut(name, "\t")
		names = append(names, name)
	}
	return names
}

// resumable returns the runs of studies, interrupted ones first.
func resumable(_ *pflag.FlagSet, args []string) []string {
	names := runsOf(args, func(r notebook.Summary) bool { return r.Study != record.MeasureStudy })
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(strings.Count(b, "\t"), strings.Count(a, "\t"))
	})
	return names
}
