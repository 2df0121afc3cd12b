package export

import "linerate/internal/model/record"

// attackRows adds a row for each attack of each trial.
func attackRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, a := range t.Attacks {
			row := []any{a.Kind, a.From, a.To, a.Target, a.AskedPerS, a.SentPerS, a.Sent, a.Skipped, a.Refused,
				a.Connections, a.Open, a.Closed, a.Mode}
			if d := a.Lateness; d != nil {
				row = append(row, d.P50Us, d.P99Us, d.MaxUs)
			} else {
				row = append(row, nil, nil, nil)
			}
			add(append(row, a.Error)...)
		}
	})
}
