package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

// Doctor is the conclusion of a diagnosis of hosts in a sentence: the causes that are at least
// likely, and otherwise that there are none.
func Doctor(e record.Evaluation) string {
	var causes []string
	possible := 0
	for _, group := range record.Alike(e.Findings) {
		f := group[0]
		switch {
		case f.ExplainedBy != "":
		case f.Confidence == record.Possible:
			possible++
		default:
			text := f.Summary
			if len(e.Hosts) > 1 {
				var hosts []string
				for _, same := range group {
					hosts = append(hosts, same.Host)
				}
				if !slices.Contains(strings.Fields(text), f.Host) {
					text = words.List(hosts) + ": " + text
				}
			}
			causes = append(causes, text)
		}
	}
	more := ""
	if possible > 0 {
		more = fmt.Sprintf(" %s possible.", words.Count(possible, "cause")+" "+words.Verb(possible, "is", "are"))
	}
	switch len(causes) {
	case 0:
		if n := dropping(e); n > 0 {
			return fmt.Sprintf("No cause is known for the %s that %s dropped.%s", words.Count(n, "packet"), words.Verb(n, "was", "were"), more)
		}
		return fmt.Sprintf("Nothing was found that slows %s down.%s", strings.Join(e.Hosts, ", "), more)
	case 1:
		return words.Sentence(causes[0], e.Hosts...) + "." + more
	}
	return fmt.Sprintf("%s found; the first: %s.%s", words.Sentence(words.Count(len(causes), "cause")), causes[0], more)
}

// dropping is how many packets were dropped harmfully between the readings, each counted once.
func dropping(e record.Evaluation) (n int) {
	const most = 1 << 30 // of a snapshot from elsewhere
	for _, d := range e.Drops {
		if d.Verdict == record.Harmful && !d.Boot && !d.Again {
			n = min(n+int(min(d.Packets, most)), most)
		}
	}
	return n
}
