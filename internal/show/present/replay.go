package present

import (
	"fmt"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// Replay shows what was sent of a capture, and what arrived.
func Replay(r *record.Replay) document.Document {
	doc := document.Document{About: []string{fmt.Sprintf("replay · %s by %s · %s", words.Count(r.Frames, "frame"),
		r.Interface, r.Mode)}}
	took := unit.FormatSeconds(r.TookS)
	doc.Answer = fmt.Sprintf("%s sent in %s: %s, %s.", unit.FormatCount(r.Sent), took, number.PerSecond(r.PerS),
		unit.FormatRate(r.Bps))
	if planned := int64(r.Frames) * int64(r.Passes); r.Sent < planned {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("%s of %s frames were not sent",
			unit.FormatCount(planned-r.Sent), unit.FormatCount(planned)))
	}
	t := &document.Table{Columns: []document.Column{{}, {}, {Wrap: true}}}
	if late := r.Lateness; late != nil {
		kept := "the schedule was kept"
		if !r.Paced {
			kept = fmt.Sprintf("not as scheduled: frames were more than %s late",
				unit.FormatSeconds(flow.MaxLate.Seconds()))
			text := "single frames were late"
			if longer := r.TookS/max(r.ScheduleS, time.Nanosecond.Seconds()) - 1; longer > 0.001 {
				text = fmt.Sprintf("it took %s longer", unit.FormatPercent(longer))
			}
			doc.Warnings = append(doc.Warnings, fmt.Sprintf("The replay did not keep its schedule of %s: %s",
				unit.FormatSeconds(r.ScheduleS), text))
		}
		median, others := percentiles(late, 4, "calls")
		t.Add("schedule", unit.FormatSeconds(r.ScheduleS), kept)
		t.Add("late", median, others)
	}
	if r.BlockedS > 0 {
		t.Add("blocked", unit.FormatSeconds(r.BlockedS), "the queue of "+r.Interface+" had no room: its link is slower")
	}
	if g := r.Received; g != nil {
		share := float64(g.Lost) / float64(max(r.Sent, 1))
		t.Add("received", unit.FormatCount(g.Received),
			fmt.Sprintf("by %s; %s altered, %s reordered, %s duplicates, %s others", g.Interface,
				unit.FormatCount(g.Altered), unit.FormatCount(g.Reordered), unit.FormatCount(g.Duplicates),
				unit.FormatCount(g.Other)))
		lost := fmt.Sprintf("%s of the frames sent", unit.FormatPercent(share))
		if g.LostIncomplete > 0 {
			lost += fmt.Sprintf("; %s of them are not whole in the file, and dropped by routers",
				unit.FormatCount(g.LostIncomplete))
		}
		if g.LostLocal > 0 {
			lost += fmt.Sprintf("; %s of them are for switches only: no IP, multicast, link-local, or at the end of "+
				"their time to live", unit.FormatCount(g.LostLocal))
		}
		if g.Overrun > 0 {
			lost += fmt.Sprintf("; up to %s of them in the buffer of this program", unit.FormatCount(g.Overrun))
		}
		t.Add("lost", unit.FormatCount(g.Lost), lost)
		if g.Latency != nil {
			median, others := percentiles(g.Latency, 4, "frames")
			t.Add("latency", median, others)
		}
		if g.Merged > 0 {
			doc.Warnings = append(doc.Warnings,
				fmt.Sprintf(
					"%s received frames were larger than any that was sent: receive offload of %s merged them; "+
						"turn it off (ethtool -K %[2]s gro off lro off)",
					unit.FormatCount(g.Merged), g.Interface))
		}
	}
	doc.Warnings = append(doc.Warnings, replayWarnings(r)...)
	for _, remark := range r.Remarks {
		if text := replayChanges[remark.Code]; text != "" {
			t.Add("changed", unit.FormatCount(int64(remark.Frames)), remark.Numbers()+": "+text)
		}
	}
	if r.Refused != "" {
		t.Add("mode", r.Mode, r.Refused)
	}
	if t := t.OrNil(); t != nil {
		doc.Summary = append(doc.Summary, []document.Block{t})
	}
	return doc
}
