package export

import (
	"strconv"
	"strings"

	"linerate/internal/model/record"
)

// outageRows are what became of each flow when something happened in a trial.
func outageRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "flow", "at_s", "lost_s", "resolution_s", "resumed", "moved", "withdrawn", "before", "after"}}
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			for _, o := range f.Outages {
				rows = append(rows, append(place(run, t), text(f.ID), number(o.AtS), number(o.LostS), number(o.ResolutionS),
					strconv.FormatBool(o.Resumed), strconv.FormatBool(o.Moved), strconv.FormatBool(o.Withdrawn),
					strings.Join(o.Before, " "), strings.Join(o.After, " ")))
			}
		}
	}
	return rows
}

// searchRows are the trials of which a search for a loss-free rate is made; a rate of
// 0 was to be as much as can be.
func searchRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "step", "asked_bps", "offered_bps", "received_bps", "window_s", "sent", "lost", "lost_share",
		"confirms", "pass", "places"}}
	for _, t := range run.Trials {
		if t.LossFree == nil {
			continue
		}
		for i, s := range t.LossFree.Trials {
			var places []string
			for _, p := range s.Places {
				places = append(places, strings.TrimLeft(p.Host+" ", " ")+p.What+": "+integer(p.Packets))
			}
			rows = append(rows, append(place(run, t), integer(i+1), number(s.AskedBps), number(s.OfferedBps), number(s.ReceivedBps), number(s.WindowS),
				integer(s.Sent), integer(s.Lost), number(s.LostShare), strconv.FormatBool(s.Confirms), strconv.FormatBool(s.Pass),
				text(strings.Join(places, "; "))))
		}
	}
	return rows
}
