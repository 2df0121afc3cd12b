package evidence

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/words"
)

// RFCTrial is the minimum length of a trial in seconds (RFC 2544, section 24).
const RFCTrial = 60

// LossFreeRows returns rows with the highest rate without loss, why it is not higher, and the
// trials of the search.
func LossFreeRows(l *record.LossFree) [][]string {
	lost := "no datagram was lost"
	if l.Loss > 0 {
		lost = "no more than " + unit.FormatPercent(l.Loss) + " was lost"
	}
	if l.RateBps == 0 {
		return append([][]string{{"loss-free", "none found", l.Why}}, lossTrialRows(l)...)
	}
	said := fmt.Sprintf("%s datagrams of %s a second; %s in %s of %s", unit.FormatCount(int64(l.PacketsPerS+0.5)),
		words.Count(l.DatagramBytes, "byte"), lost, words.Count(l.Repeats, "trial"), unit.FormatSeconds(l.ConfirmS))
	rows := [][]string{{"loss-free", unit.FormatRate(l.RateBps), said}}
	if text := stillFilling(l); text != "" {
		rows = append(rows, []string{"", "", text})
	}
	rows = append(rows, []string{"", "", lossFreeWhy(l)})
	if l.ConfirmS < RFCTrial {
		rows = append(rows, []string{"", "",
			fmt.Sprintf("RFC 2544 requires trials of %d s, which also fill large queues: --duration %ds", RFCTrial,
				RFCTrial)})
	}
	return append(rows, lossTrialRows(l)...)
}

// stillFilling says how much of the sent data neither arrived nor was lost in the trial of the
// result, if that is more than half of the search's resolution. A queue on the path was then
// filling, and longer trials would give a lower result. Empty: it was not.
func stillFilling(l *record.LossFree) string {
	if l.ResultTrial == 0 {
		return ""
	}
	t := l.Trials[l.ResultTrial-1]
	if queued := t.OfferedBps - t.ReceivedBps/(1-t.LostShare); t.ReceivedBps > 0 &&
		queued > l.Resolution/2*t.OfferedBps {
		return fmt.Sprintf(
			"%s of it arrived: a queue on the path took in %s, and loses datagrams when it is full; longer trials "+
				"(--duration) find what it lets through",
			unit.FormatRate(t.ReceivedBps), unit.FormatBytes(queued/8*t.WindowS))
	}
	return ""
}

// lossFreeWhy returns why the rate is not higher.
func lossFreeWhy(l *record.LossFree) string {
	switch l.BoundedBy {
	case record.BoundedBySender:
		return "the sender could send no more: the path may carry more"
	case record.BoundedByCap:
		return "no higher rate was tried: the path may carry more"
	case record.BoundedByLimit:
		return "the links carry no more"
	}
	text := unit.FormatRate(l.LostAtBps) + " loses datagrams"
	if l.BoundedBy == record.BoundedByStalls {
		text = "the senders fell behind the next higher rate, although they sent more in other trials; " + text
	}
	if where := lossPlaces(l.Places); where != "" {
		text += ": " + where
	}
	return text
}

// found is the result of a trial's search: its rate, why that is not higher or why there is none,
// and the trials of the search.
type found struct {
	rate, why string
	table     string // name of the table with their data
	trials    [][]string
}

func foundBy(t *record.Trial) (f found, searched bool) {
	switch {
	case t.LossFree != nil && t.LossFree.RateBps == 0:
		return found{"", t.LossFree.Why, "search", lossTrialRows(t.LossFree)}, true
	case t.LossFree != nil:
		return found{unit.FormatRate(t.LossFree.RateBps), lossFreeWhy(t.LossFree), "search", lossTrialRows(t.LossFree)},
			true
	case t.FindMax != nil:
		return found{findMaxRate(t.FindMax), findMaxWhy(t.FindMax), "find_max", findMaxTrialRows(t.FindMax)}, true
	}
	return found{}, false
}

// SearchReasons says for the first search of each treatment why its result is not higher.
func SearchReasons(run *record.Run) (list []string) {
	said := map[string]bool{}
	for _, trial := range run.Trials {
		f, searched := foundBy(&trial)
		if !searched || said[trial.Treatment] {
			continue
		}
		said[trial.Treatment] = true
		list = append(list, fmt.Sprintf("%s: %s (%s)", trial.Treatment, f.why, words.Count(len(f.trials), "trial")))
	}
	return list
}

// Searches returns the trials of each search for the highest rate, in order. Nil: there was none.
func Searches(run *record.Run) (list []document.Block) {
	for _, t := range run.Trials {
		f, searched := foundBy(&t)
		if !searched {
			continue
		}
		if len(list) == 0 {
			list = []document.Block{document.Prose{Name: f.table, Data: export.Rows(run, f.table),
				Text: "The trials of each search, in their order."}}
		}
		came := f.why
		if f.rate != "" {
			came = f.rate + "; " + f.why
		}
		table := &document.Table{Columns: []document.Column{{Head: "rate"}, {Head: "result", Wrap: true}}}
		for _, row := range f.trials {
			table.Add(row[1:]...)
		}
		list = append(list, document.Fold{Summary: fmt.Sprintf("trial %d, %s: %s", t.Order, t.Treatment, came),
			Blocks: []document.Block{table}})
	}
	return list
}

// lossTrialRows returns one row for each trial of a search.
func lossTrialRows(l *record.LossFree) (rows [][]string) {
	for i, t := range l.Trials {
		name := ""
		if i == 0 {
			name = "trials"
		}
		rate := "full speed"
		if t.AskedBps > 0 {
			rate = unit.FormatRate(t.AskedBps)
		}
		said := unit.FormatSeconds(t.WindowS) + ", "
		switch {
		case t.Sent == 0:
			said += "nothing was sent"
		case t.Lost == 0:
			said += fmt.Sprintf("%s sent, none of %s lost", unit.FormatRate(t.OfferedBps), unit.FormatCount(t.Sent))
		default:
			said += fmt.Sprintf("%s sent, %s of %s expected lost (%s)", unit.FormatRate(t.OfferedBps),
				unit.FormatCount(t.Lost), unit.FormatCount(t.Expected()), unit.FormatPercent(t.LostShare))
		}
		if t.Confirms {
			said += ", to confirm it"
		}
		rows = append(rows, []string{name, rate, said})
	}
	return rows
}

// lossPlaces names the places where counters show the most losses.
func lossPlaces(places []record.LossPlace) string {
	const listed = 2
	var list []string
	for _, p := range places[:min(len(places), listed)] {
		where := p.What
		if p.Host != "" {
			where = "in " + p.What + " of " + p.Host
		}
		list = append(list, unit.FormatCount(p.Packets)+" "+where)
	}
	return strings.Join(list, ", ")
}
