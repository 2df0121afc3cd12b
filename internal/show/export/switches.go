package export

import (
	"cmp"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
)

// switchRows adds rows for the ports of switches with the growth of their SNMP counters.
func switchRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, s := range t.Switches {
			if s.Missing != "" && len(s.Ports) == 0 {
				add(switchRow(s, record.SwitchPort{}, s.Missing)...)
			}
			for _, p := range s.Ports {
				missing := cmp.Or(p.Missing, s.Missing)
				add(switchRow(s, p, missing)...)
			}
		}
	})
}

func switchRow(s record.SwitchReading, p record.SwitchPort, missing string) []any {
	row := []any{s.Switch, p.Port, p.Peer, p.Name, p.Alias, p.Index, p.SpeedBps, p.Bits, s.RefreshS, missing}
	if missing != "" {
		return append(row, make([]any, 2+len(p.Counters.Each()))...)
	}
	row = append(row, p.Seconds(), p.DoubtS)
	row = append(row, lists.Map(p.Counters.Each(), func(c *uint64) any { return *c })...)
	return row
}
