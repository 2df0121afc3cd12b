//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// tools compares a program that is described by a study with the same program as linerate
// knows it (built in).
var tools = contest{
	key: "tools", Title: "iperf3, as linerate knows it and as a study describes it",
	unit: "Mbit/s", digits: 3,
	conditions: []string{"50 Mbit/s"},
	contenders: []contender{
		{name: "described", turn: goodputOf("described.yaml")},
		{name: "built-in", turn: goodputOf("known.yaml")},
	},
	marks: []mark{{0, "described", "built-in", rateOf, "goodput", 0.01, within}},
	About: "Goodput is what the sockets' reader counts of the program's connection in the window, in a study of " +
		"one trial ([described.yaml](../script/bench/described.yaml), [known.yaml](../script/bench/known.yaml), " +
		"`tool` in [foreign tools](foreign-tools.md#any-program)).",
}

// goodputOf makes the one trial of a study.
func goodputOf(file string) func(context.Context, *bench, int) (figure, error) {
	return func(ctx context.Context, l *bench, _ int) (figure, error) {
		out, err := output(ctx, "env", "LINERATE_NOTEBOOK="+filepath.Join(l.dir, "notebook.db"),
			l.binary, "run", filepath.Join(l.dir, file), "--trust", "--json", "--quiet")
		if err != nil {
			return figure{}, err
		}
		var run struct {
			Treatments []struct {
				Goodput struct {
					MeanBps float64 `json:"mean_bps"`
				}
			}
		}
		if err := json.Unmarshal(out, &run); err != nil {
			return figure{}, err
		}
		if len(run.Treatments) != 1 {
			return figure{}, fmt.Errorf("%s: %d treatments, want one", file, len(run.Treatments))
		}
		return figure{rate: run.Treatments[0].Goodput.MeanBps / 1e6}, nil
	}
}
