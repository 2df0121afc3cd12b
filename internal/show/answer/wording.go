package answer

import "strings"

// Answer is a run's conclusion in words: one sentence of at most about 30 words, then
// up to four short statements, the caveats included: what keeps its figures from being
// trusted, and how the run ended if it did not fulfil its design.
type Answer struct {
	Headline   string
	Statements []string
	Caveats    []string
}

const (
	goodWords = 30 // of a headline, where its words can be chosen
	mostWords = 35 // of any headline: what is beyond is cut off
)

// fit is the first of several wordings with no more than goodWords, or else with no more
// than mostWords; the last one is cut if it has more.
func fit(wordings ...string) string {
	for _, most := range []int{goodWords, mostWords} {
		for _, text := range wordings {
			if len(strings.Fields(text)) <= most && (most == mostWords || text != wordings[len(wordings)-1]) {
				return text
			}
		}
	}
	words := strings.Fields(wordings[len(wordings)-1])
	if len(words) > mostWords {
		return strings.Join(words[:mostWords], " ") + "…"
	}
	return strings.Join(words, " ")
}
