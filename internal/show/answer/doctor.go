package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// Doctor returns the conclusion of a diagnosis of hosts in one sentence: the causes that are at
// least likely; without any, that there are none, which packets were dropped harmfully, and since
// when. Where rules could not be evaluated it says what was judged and what was not.
func Doctor(e record.Evaluation) string {
	rules, parts := e.Unjudged()
	if len(e.Evaluated) == 0 && len(rules) > 0 {
		return fmt.Sprintf("Nothing could be judged: what was read of %s is not what any of %d rules needs.",
			words.List(e.Hosts), len(rules))
	}
	var causes []string
	possible, boot, first := 0, 0, ""
	for _, group := range record.Alike(e.Findings) {
		f := group[0]
		switch {
		case f.ExplainedBy != "":
		case f.Confidence == record.Possible:
			if possible++; possible == 1 {
				first = ofHosts(group, e.Hosts)
			}
			if !slices.ContainsFunc(group, func(f record.Finding) bool { return !f.Boot }) {
				boot++
			}
		default:
			causes = append(causes, ofHosts(group, e.Hosts))
		}
	}
	more := ""
	if possible > 0 {
		more = fmt.Sprintf(" %s %s possible%s.", words.Count(possible, "cause"), words.Verb(possible, "is", "are"),
			ofBoot(possible, boot))
	}
	switch len(causes) {
	case 0:
		// Counters since boot do not say what is so now: possible causes are then all that there is.
		if possible > 0 && e.OverS == 0 && harmful(e, false) == "" {
			which := ": "
			if possible > 1 {
				which = "; the first: "
			}
			text := fmt.Sprintf("%s %s possible%s%s%s.", words.Sentence(words.Count(possible, "cause")),
				words.Verb(possible, "is", "are"), ofBoot(possible, boot), which, first)
			if before := harmful(e, true); before != "" {
				text += " Dropped harmfully since boot: " + before + "."
			}
			return text + notJudged(parts, e.Judged)
		}
		over := ""
		if e.OverS > 0 {
			over = " in " + unit.FormatSeconds(e.OverS)
		}
		text := fmt.Sprintf("Nothing was found that slows %s down%s.", strings.Join(e.Hosts, ", "), over)
		if len(rules) > 0 {
			text = fmt.Sprintf("Of %d rules %d could be evaluated (%s), and these found nothing that slows %s down%s.",
				len(e.Evaluated)+len(rules), len(e.Evaluated), words.List(wording.PartNames(e.Judged)),
				strings.Join(e.Hosts, ", "), over)
		}
		if now := harmful(e, false); now != "" {
			text = fmt.Sprintf("No cause is known for packets that were dropped%s, harmfully: %s.", over, now)
		}
		text += more
		if before := harmful(e, true); before != "" {
			text += " Dropped harmfully since boot: " + before + "."
		}
		return text + notJudged(parts, e.Judged)
	case 1:
		return words.Sentence(causes[0], e.Hosts...) + "." + more + notJudged(parts, e.Judged)
	}
	return fmt.Sprintf("%s found; the first: %s.%s%s", words.Sentence(words.Count(len(causes), "cause")), causes[0],
		more, notJudged(parts, e.Judged))
}

// ofHosts returns the summary of a finding of one or more of the hosts, with their names.
func ofHosts(group []record.Finding, all []string) string {
	text := group[0].Summary
	if len(all) < 2 || slices.Contains(strings.Fields(text), group[0].Host) {
		return text
	}
	hosts := lists.Map(group, func(same record.Finding) string { return same.Host })
	return words.List(hosts) + ": " + text
}

// notJudged names the parts of the hosts that no evaluated rule could read. Empty: none.
func notJudged(parts, judged []string) string {
	if len(parts) == 0 {
		return ""
	}
	return " Not judged: " + words.FirstFew(wording.LackingNames(parts, judged), "and") + "."
}

// ofBoot says how many of the possible causes rest on counters or log messages since boot.
func ofBoot(possible, boot int) string {
	switch boot {
	case 0:
		return ""
	case possible:
		return ", by what happened since boot"
	}
	return fmt.Sprintf(", %d of them by what happened since boot", boot)
}

// harmful names the counters of packets that were dropped harmfully, between the readings or since
// boot, as in the table of drops. It returns no sum because several counters may count the same
// packet.
func harmful(e record.Evaluation, boot bool) string {
	var list []string
	for _, d := range e.Drops {
		if d.Verdict == record.Harmful && d.Boot == boot && !d.Again {
			text := d.Where + " " + d.Counter + " " + unit.FormatCount(d.Packets)
			if len(e.Hosts) > 1 {
				text = d.Host + ": " + text
			}
			list = append(list, text)
		}
	}
	return words.FirstFew(list, "and")
}
