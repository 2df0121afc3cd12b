package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// Tune returns a copy of the result of trying a list of settings, in which the answer, the reasons for
// each setting and the remarks on the files are in words, for each of its conditions. A result of an
// earlier version keeps the words that it has.
func Tune(t *record.Tune) *record.Tune {
	shown := *t
	shown.Settings, shown.Lint = wording.Settings(t.Settings), wording.Lint(t.Lint)
	if shown.Answer == "" {
		shown.Answer = newTuned(shown).answer()
	}
	shown.Conditions = Tunes(t.Conditions)
	return &shown
}

// Tunes returns copies of results as Tune does.
func Tunes(list []*record.Tune) (shown []*record.Tune) {
	return lists.Map(list, Tune)
}

// answer says what the list does, which of its settings do it, which harm, and which make no
// difference; then what was kept, or why nothing was.
func (t tuned) answer() string {
	text := ""
	switch {
	case t.Run == "":
		return "Nothing of the list can be tried here." + t.unread()
	case t.Search != nil:
		text = t.searched()
	default:
		text = t.shown()
	}
	if s := t.elsewhere(); s != "" {
		text += " " + s
	}
	if t.Ended {
		text += " The budget ended the search: fewer settings may be enough."
	}
	if t.Offer != nil && slices.ContainsFunc(t.Settings, func(s record.TuneSetting) bool { return s.Keep }) {
		text += " Not kept: " + Offered(t.Offer) + "."
	}
	switch t.Unwritten {
	case "":
	case record.UnwrittenUnjudged:
		text += " No file written."
	default:
		text += " No file written: " + t.unwritten() + "."
	}
	if p := t.Removed; p != nil {
		text += fmt.Sprintf(" Run %s, which proved %s, is no longer in the notebook.", p.Run,
			strings.Join(p.Settings, ", "))
	}
	return text + t.unread()
}

// unread says how many lines of the list were not read, and so not tried. Empty: none.
func (t tuned) unread() string {
	if t.Lint == nil || len(t.Lint.Unread) == 0 {
		return ""
	}
	n := len(t.Lint.Unread)
	verb := words.Verb(n, "was", "were")
	return fmt.Sprintf(" %s of the list %s not read, and not tried.", words.Count(n, "line"), verb)
}

// shown says what the trials showed.
func (t tuned) shown() string {
	if t.List == nil {
		return "The list has not been tried."
	}
	var parts, said []string
	switch name, many := t.subject(); {
	case t.Unjudged != nil:
		said = append(said, words.Sentence(t.Unjudged.Text())+".")
		parts = append(parts, name+t.does(settingfile.TheList, t.List, many))
	case t.isOne():
		parts = append(parts, t.tried()[0].Key+t.does(settingfile.TheList, t.List, false))
	default:
		if t.List.Verdict == record.Worsens { // what to do about it
			parts = t.harming()
		}
		if t.Written != nil { // which is the user's own
			parts = append(parts, "The list as written"+t.does(settingfile.Written, t.Written, false))
		}
		parts = append(parts, name+t.does(settingfile.TheList, t.List, many))
		did := t.settings()
		// more than the list
		if t.Proof != nil && t.List.Verdict != record.Improves && t.Proof.Effect.Verdict != record.Worsens &&
			tuning.Gains(t.Proof.Effect, t.Margin) {
			parts = append(did, parts...)
		} else {
			parts = append(parts, did...)
		}
	}
	full := ""
	if t.List.Verdict != record.Improves {
		full = fullPath(t.Full)
	}
	if t.Unjudged == nil && !t.Partial && tuning.NothingToKeep(t.Tune) { // first what follows from the rest
		text := "Nothing of this list is shown to be worth keeping here"
		if len(t.tried()) < len(t.Settings) {
			text = "Nothing of this list that was tried is shown to be worth keeping here"
		}
		if full != "" {
			text += ": " + strings.ToLower(full[:1]) + full[1:]
		}
		said, full = append(said, text+"."), ""
	}
	for _, part := range parts {
		if first, _, _ := strings.Cut(part, " "); !strings.Contains(first, ".") { // a key is spelled as it is
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		said = append(said, part+".")
	}
	if full != "" {
		said = append(said, full+".")
	}
	if off := t.Off; off != nil && (off.Verdict == record.Improves || off.Verdict == record.Worsens) {
		said = append(said, fmt.Sprintf(
			"With the settings off again the result differs from the baseline (%s): something else changed, or an "+
				"effect of the settings remained.",
			wording.Ratio(off)))
	}
	return strings.Join(append(said, untriedOf(t.Settings)...), " ")
}

// isOne reports whether the list is a single setting, so that its effect is the list's.
func (t tuned) isOne() bool {
	tried := t.tried()
	return len(tried) == 1 && tried[0].Alone != nil && tried[0].Alone.To == t.List.To
}

// subject is the name of what was tried: of a list that could only partly be tried, what is
// said is about the rest. many: it takes a plural.
func (t tuned) subject() (name string, many bool) {
	c := tuning.Count(t.Settings)
	corrected, replaced := false, ""
	for _, s := range t.Settings {
		switch {
		case s.Verdict == record.NotTried || s.Corrected == "":
		case !s.IsAdded():
			corrected = true
		default:
			replaced = ", with " + s.Key + " = " + s.Value + " in place of the list's"
		}
	}
	how, whole, with := replaced, " as a whole", ""
	switch {
	case corrected:
		how, whole = ", as corrected"+replaced, " as corrected"
	case t.Written != nil && len(c.Added) == 0 && replaced == "": // of an older run it is not known what was amended
		how, whole = ", as tried", " as tried"
	}
	if len(c.Added) > 0 {
		with = words.Join(c.Added, "and") + ", which linerate added"
	}
	switch {
	case c.Tried == 0 && with != "":
		return with + ",", len(c.Added) > 1
	case c.Tried == c.Of && with != "":
		return "The list" + whole + replaced + " and " + with + ",", true
	case c.Tried == c.Of && replaced != "":
		return "The list" + whole + replaced + ",", false
	case c.Tried == c.Of:
		return "The list" + whole, false
	}
	name = words.Verb(c.Tried, "The one setting", fmt.Sprintf("The %d settings", c.Tried)) +
		" that could be tried" + how
	if with != "" {
		name += " and " + with
	}
	if how != "" || with != "" {
		name += ","
	}
	return name, c.Tried > 1 || with != ""
}

// elsewhere says where the congestion control that is kept acts, if the sender is none of the hosts
// of the list; empty: it is.
func (t tuned) elsewhere() string {
	i := slices.IndexFunc(t.Settings, func(s record.TuneSetting) bool {
		return s.Key == setting.CongestionControl && s.Keep
	})
	if t.Proof == nil || i < 0 || t.Sender == "" || slices.Contains(t.Hosts, t.Sender) {
		return ""
	}
	return fmt.Sprintf(
		"%s = %s acts on %s, which sends, and has no effect on %s; linerate fix %s has the settings of each host.",
		setting.CongestionControl, t.Settings[i].Value, t.Sender, words.Join(t.Hosts, "and"), t.Run)
}

// unwritten is why no file was written.
func (t tuned) unwritten() string {
	switch t.Unwritten {
	case record.UnwrittenBudget:
		return "what is left of the budget is too short for the proof of what is kept"
	case record.UnwrittenWorthless:
		return worthless(t.Tune)
	case record.UnwrittenTrade:
		if t.Offer != nil {
			return Offered(t.Offer)
		}
	}
	if t.Proof == nil || t.Proof.Effect.Verdict != record.Inconclusive || !tuning.Gains(t.Proof.Effect, 0) {
		return "the settings by themselves are not proven to improve anything without a loss"
	}
	e := t.Proof.Effect
	r, _ := metric.Find(e.Response)
	return fmt.Sprintf("whether they cost %s is not known, %s; more blocks tell (--replicates)", r.Label,
		wording.Ratio(e))
}

// worthless says why nothing is kept of a list of which no set is better than the baseline.
func worthless(t *record.Tune) string {
	var gains, costs []string
	for _, s := range t.Settings {
		for _, name := range t.Responses {
			r, _ := metric.Find(name)
			switch v := tuning.Combined(r.Effect(s.Alone), r.Effect(s.Removed)); {
			case s.Verdict != record.Trades:
			case v == record.Helps && !slices.Contains(gains, r.Label):
				gains = append(gains, r.Label)
			case v == record.Harms && !slices.Contains(costs, r.Label):
				costs = append(costs, r.Label)
			}
		}
	}
	if len(gains) == 0 {
		return "no setting of the list clearly improves anything"
	}
	return "nothing is kept, since what improves " + words.Join(gains, "and") + " costs " + words.Join(costs, "and")
}

// fullPath says that nothing is left to gain; empty: the path is not full.
func fullPath(full *record.TuneFull) string {
	if full == nil {
		return ""
	}
	percent := func(part float64) string { return fmt.Sprintf("%.1f %%", math.Ceil(1000*part)/10) }
	left, most := percent(full.Left), percent(full.Most)
	text := fmt.Sprintf("As it is, goodput is at %.1f %% of the path's limit: no setting can raise it by more than %s",
		100*full.Share, left)
	switch {
	case left == most:
	case full.WithoutTimestamps:
		text += ", or " + most + " without TCP timestamps, whose bytes then carry data"
	default:
		text += ", or " + most + " at the highest limit of what was tried"
	}
	return text
}

// searched says which value is enough.
func (t tuned) searched() string {
	values := t.Search.Values
	if len(values) == 0 { // of another version
		return t.Search.Key + ": no value was tried."
	}
	enough := values[len(values)-1]
	text := fmt.Sprintf("%s: no value below %s is shown to be good enough.", t.Search.Key, enough.Name)
	if i := slices.IndexFunc(values, func(v record.TuneValue) bool { return v.Name == t.Search.Enough }); i >= 0 {
		enough = values[i]
		text = fmt.Sprintf("%s: %s is the smallest value that is good enough.", t.Search.Key, enough.Name)
	}
	if t.Search.Unsure != "" {
		text += fmt.Sprintf(" %s is inconclusive.", t.Search.Unsure)
	}
	if other := t.also(runLevel{}, enough.Effect, false); other != "" {
		text += " Against the largest it is as good" + other + "."
	}
	if e := t.List; e != nil && e.Verdict == record.NoDifference {
		text += " Without the list it is as good" + t.also(runLevel{}, e, false) + "."
	}
	return text
}
