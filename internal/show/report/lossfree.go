package report

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/limits"
)

// rfcTrial is how long a trial is to be at least (RFC 2544, section 24).
const rfcTrial = 60

// lossFreeRows are the highest rate without loss, what keeps it from being higher,
// and the trials by which it was found.
func lossFreeRows(l *record.LossFree) [][]string {
	lost := "no datagram was lost"
	if l.Loss > 0 {
		lost = "no more than " + Percent(l.Loss) + " was lost"
	}
	if l.RateBps == 0 {
		return append([][]string{{"loss-free", "none found", l.Why}}, lossTrialRows(l)...)
	}
	said := fmt.Sprintf("%s datagrams of %s a second; %s in %s of %.3g s", thousands(int64(l.PacketsPerS+0.5)), counted(l.DatagramBytes, "byte"), lost, counted(l.Repeats, "trial"), l.ConfirmS)
	rows := [][]string{{"loss-free", limits.Rate(l.RateBps), said}}
	rows = append(rows, []string{"", "", lossFreeWhy(l)})
	if l.ConfirmS < rfcTrial {
		rows = append(rows, []string{"", "", fmt.Sprintf("RFC 2544 wants trials of %d s, which find queues that fill slowly: --duration %ds", rfcTrial, rfcTrial)})
	}
	return append(rows, lossTrialRows(l)...)
}

// lossFreeWhy is why the rate is not higher.
func lossFreeWhy(l *record.LossFree) string {
	switch l.BoundedBy {
	case record.BoundedBySender:
		return "the sender made no more: the path may carry more"
	case record.BoundedByCap:
		return "no more was asked for: the path may carry more"
	case record.BoundedByLimit:
		return "the links carry no more"
	}
	text := limits.Rate(l.LostAtBps) + " loses datagrams"
	if where := lossPlaces(l.Places); where != "" {
		text += ": " + where
	}
	return text
}

// searched says of each treatment's first search why it found no more.
func (t *terminal) searched(v *view) {
	label := "Loss"
	told := map[string]bool{}
	for _, trial := range v.run.Trials {
		l := trial.LossFree
		if l == nil || told[trial.Treatment] {
			continue
		}
		if told[trial.Treatment] = true; label != "" {
			t.blank()
		}
		why := lossFreeWhy(l)
		if l.RateBps == 0 {
			why = l.Why
		}
		t.labelled(label, fmt.Sprintf("%s: %s (%s)", trial.Treatment, why, counted(len(l.Trials), "trial")))
		label = ""
	}
}

// searchMade is a trial that looked for the highest rate without loss.
type searchMade struct {
	Name string // trial and treatment
	Came string // what it found, and why no more
	Rows [][]string
}

func searches(run *record.Run) (list []searchMade) {
	for _, t := range run.Trials {
		l := t.LossFree
		if l == nil {
			continue
		}
		s := searchMade{Name: fmt.Sprintf("trial %d, %s", t.Order, t.Treatment), Came: l.Why}
		if l.RateBps > 0 {
			s.Came = limits.Rate(l.RateBps) + "; " + lossFreeWhy(l)
		}
		for _, row := range lossTrialRows(l) {
			s.Rows = append(s.Rows, row[1:])
		}
		list = append(list, s)
	}
	return list
}

// lossTrialRows are the trials of a search, one each.
func lossTrialRows(l *record.LossFree) (rows [][]string) {
	for i, t := range l.Trials {
		name := ""
		if i == 0 {
			name = "trials"
		}
		asked := "full speed"
		if t.AskedBps > 0 {
			asked = limits.Rate(t.AskedBps)
		}
		said := fmt.Sprintf("%.3g s, ", t.WindowS)
		switch {
		case t.Sent == 0:
			said += "nothing was sent"
		case t.Lost == 0:
			said += fmt.Sprintf("%s sent, none of %s lost", limits.Rate(t.OfferedBps), thousands(t.Sent))
		default:
			said += fmt.Sprintf("%s sent, %s of %s lost (%s)", limits.Rate(t.OfferedBps), thousands(t.Lost), thousands(t.Sent), Percent(t.LostShare))
		}
		if t.Confirms {
			said += ", to confirm it"
		}
		rows = append(rows, []string{name, asked, said})
	}
	return rows
}

// lossPlaces are the places where most was lost, of which the counters tell.
func lossPlaces(places []record.LossPlace) string {
	const told = 2
	var list []string
	for _, p := range places {
		if len(list) == told {
			break
		}
		where := p.What
		if p.Host != "" {
			where = "in " + p.What + " of " + p.Host
		}
		list = append(list, thousands(p.Packets)+" "+where)
	}
	return strings.Join(list, ", ")
}
