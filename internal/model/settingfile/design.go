package settingfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/setting"
	"linerate/internal/model/source"
)

// The factor of the studies that tune creates, and its levels. OffAgain is AsItIs once more: an
// effect that it shows was not caused by the list. Package study names the levels that set only a
// part of the list.
const (
	Factor   = "settings"
	AsItIs   = "as it is"
	TheList  = "the list"
	Written  = "the list as written"
	OffAgain = "off again"
)

// Further levels of the studies that find the fewest settings that have the effect of the list.
const (
	HarmlessList = "the list without what harms"
	FreeList     = "the list without trades"
	ProvenList   = "what was proven before"
)

// Descriptions of sets of settings, for Set.About.
const (
	AboutNone = "no setting of the list"
	AboutAll  = "every setting of the list"
	AboutFree = "every setting of the list that does not trade one response for another"
	AboutCore = "the settings that earlier trials have shown to help"
	AboutLeft = "the settings that remain when all that are not needed are left out"
)

// Design describes which settings of a list to try, and where.
type Design struct {
	Name     string
	Question string
	// Notes are comments at the beginning of the study.
	Notes []string
	// Hosts are the hosts that are changed.
	Hosts []string
	// Lines are the settings to try, with each key once. Congestion control is set as an option of
	// the flows, not on the hosts.
	Lines []Line
	// Untried lists settings of the list that are not tried, with the reason.
	Untried []Untried
	// Ablate adds levels that try each line alone, and the list without it. It has no effect on a
	// single line.
	Ablate bool
	// Responses replace the responses of the base study. Empty: they are kept.
	Responses []string
	// Search replaces the levels above by one level for each value of a key, together with the
	// other lines of the list. Nil: no search.
	Search *Search
	// Sets replaces the levels above by sets of the lines, of which the first is the baseline.
	// Empty: no sets.
	Sets []Set
}

// Untried is a setting of a list that is not tried.
type Untried struct{ Key, Value, Why string }

// Set is a set of lines of a list that are tried together.
type Set struct {
	Name, About string
	Keys        []string
}

// Search has a key and the values to try, in ascending order.
type Search struct {
	Key string
	// Names are the names of the levels, Values the values that they set.
	Names, Values []string
}

// level is a level of the factor.
type level struct {
	name, about string
	lines       []Line
}

func (d Design) levels() []level {
	if d.Search != nil {
		return d.ladder()
	}
	if len(d.Sets) > 0 {
		return d.sets()
	}
	list := []level{
		{name: AsItIs, about: AboutNone},
		{name: TheList, about: AboutAll + d.tried(), lines: d.Lines},
	}
	return append(list, level{name: OffAgain,
		about: "as it is once more: what differs here is chance, or was left behind"})
}

// tried returns what follows "the list" in texts if only a part of it is tried.
func (d Design) tried() string {
	if len(d.Untried) == 0 {
		return ""
	}
	return " that could be tried"
}

func (d Design) sets() (list []level) {
	for _, s := range d.Sets {
		lines := slices.DeleteFunc(slices.Clone(d.Lines), func(l Line) bool { return !slices.Contains(s.Keys, l.Key) })
		list = append(list, level{name: s.Name, about: s.About, lines: lines})
	}
	return list
}

// ladder returns the levels of a search: one for each value, the largest first, and AsItIs. All are
// compared with the largest value, because the smallest value that carries as much is good enough.
func (d Design) ladder() []level {
	s := d.Search
	with := func(value string) []Line {
		lines := slices.Clone(d.Lines)
		if i := slices.IndexFunc(lines, func(l Line) bool { return l.Key == s.Key }); i >= 0 {
			lines[i].Value = value
			return lines
		}
		return append(lines, Line{Key: s.Key, Value: value})
	}
	top := len(s.Names) - 1
	list := []level{{name: s.Names[top], about: "the largest value, which the others are compared with",
		lines: with(s.Values[top])}}
	for i := range top {
		list = append(list, level{name: s.Names[i], lines: with(s.Values[i])})
	}
	return append(list, level{name: AsItIs, about: AboutNone})
}

// Study returns the text of a study with the list as its factor. Its topology, workload and design
// are those of base, which must not have factors. File is the name of base in messages.
func (d Design) Study(file string, base []byte) ([]byte, error) {
	text, err := d.Unvaried(file, base)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(text)
	fmt.Fprintf(b, "factors:\n  %s:\n", Factor)
	if d.Ablate && d.Search == nil && len(d.Sets) == 0 && len(d.Lines) > 1 {
		fmt.Fprintf(b, "    ablate: %s\n", source.Quoted(TheList))
	}
	if len(d.Untried) > 0 {
		fmt.Fprint(b, "    untried:\n")
	}
	for _, u := range d.Untried {
		fmt.Fprintf(b, "      %s: {value: %s, why: %s}\n", source.Quoted(u.Key), source.Quoted(u.Value),
			source.Quoted(u.Why))
	}
	fmt.Fprint(b, "    levels:\n")
	for _, l := range d.levels() {
		fmt.Fprintf(b, "      %s:\n", source.Quoted(l.name))
		if l.about != "" {
			fmt.Fprintf(b, "        about: %s\n", source.Quoted(l.about))
		}
		if i := slices.IndexFunc(l.lines, func(line Line) bool {
			return line.Key == setting.CongestionControl
		}); i >= 0 {
			fmt.Fprintf(b, "        workload: {congestion_control: %s}\n", source.Quoted(l.lines[i].Value))
			l.lines = slices.Delete(slices.Clone(l.lines), i, i+1)
		}
		if len(l.lines) == 0 {
			fmt.Fprint(b, "        settings: []\n")
			continue
		}
		fmt.Fprint(b, "        settings:\n")
		for _, host := range d.Hosts {
			writeSettings(b, host, l.lines)
		}
	}
	return b.Bytes(), nil
}

// writeSettings writes lines as settings of a host.
func writeSettings(b *bytes.Buffer, host string, lines []Line) {
	started := false
	for _, line := range lines {
		if line.IsOption() {
			continue
		}
		if !started {
			fmt.Fprintf(b, "          - host: %s\n            sysctl:\n", source.Quoted(host))
			started = true
		}
		fmt.Fprintf(b, "              %s: %s\n", source.Quoted(line.Key), source.Quoted(line.Value))
	}
	for _, line := range lines {
		if iface, o, ok := line.option(); ok {
			fmt.Fprintf(b, "          - host: %s\n            nic: {interface: %s, %s: {%s: %s}}\n",
				source.Quoted(host), source.Quoted(iface), o.Group, source.Quoted(o.Key), source.Quoted(o.Value))
		} else if line.Key == setting.CPUGovernor {
			fmt.Fprintf(b, "          - host: %s\n            cpu: {governor: %s}\n", source.Quoted(host),
				source.Quoted(line.Value))
		}
	}
}

// Unvaried returns the study that Study returns, but without its factor: the hosts are as they are.
func (d Design) Unvaried(file string, base []byte) ([]byte, error) {
	drop := []string{"study", "question"}
	if len(d.Responses) > 0 {
		drop = append(drop, "response")
	}
	kept, err := without(file, base, false, drop)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, note := range d.Notes {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(note, "\n", " "))
	}
	fmt.Fprintf(&b, "study: %s\nquestion: %s\n%s", d.Name, source.Quoted(d.Question), kept)
	if len(d.Responses) > 0 {
		fmt.Fprintf(&b, "response: [%s]\n", strings.Join(d.Responses, ", "))
	}
	return b.Bytes(), nil
}

// WithoutFactors returns the text of a study without its factors: the base of a study that Design
// created.
func WithoutFactors(file string, text []byte) ([]byte, error) { return without(file, text, true, nil) }

// without returns the text of a study without some of its keys. If factors is true, the study's
// factors are removed too; otherwise it must have none.
func without(file string, base []byte, factors bool, drop []string) ([]byte, error) {
	doc, problems := source.Parse(file, base)
	if err := problems.Err(); doc == nil || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("%s is no study", file))
	}
	lines := strings.SplitAfter(strings.TrimPrefix(string(base), "\ufeff"), "\n")
	var b bytes.Buffer
	entries := doc.Root.Entries
	for i, e := range entries {
		end := len(lines) + 1
		if i+1 < len(entries) {
			end = entries[i+1].Key.At.Line
		}
		switch {
		case e.Key.At.Column != 1 || i > 0 && e.Key.At.Line <= entries[i-1].Key.At.Line:
			return nil,
				fmt.Errorf(
					"%s:%d: expected topology, workload and design each on a line of its own, without { } around "+
						"them all", file, e.Key.At.Line)
		case !factors && e.Key.Text == "factors" && e.Value.Kind == source.Mapping && len(e.Value.Entries) > 0:
			return nil,
				fmt.Errorf(
					"%s:%d: the study varies something itself; to tune, expected one without the key factors: what "+
						"is varied is the list", file, e.Key.At.Line)
		case e.Key.Text == "factors" || slices.Contains(drop, e.Key.Text):
			continue
		}
		text := strings.Join(lines[e.Key.At.Line-1:end-1], "")
		b.WriteString(strings.TrimRight(text, "\n") + "\n")
	}
	return b.Bytes(), nil
}
