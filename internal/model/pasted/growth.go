package pasted

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

// A text that has the output of a command twice is read twice: with the first outputs alone, and with the
// last ones. The counters of the first reading are then those of Reading.Begin, and what grew since is
// known, if the text says how much time was in between: by date(1), sleep(1), watch(1), the time in a
// prompt or in the name of a file, or if the caller says it.

// moment is a time of which a text says something. Those without a date begin with the text, and are as
// long after it as the commands sleep. Moments can be compared if dated is the same.
type moment struct {
	s     float64
	dated bool
}

// piece is the output of a command in a text.
type piece struct {
	from, to int    // lines, without the line that has the command
	of       string // the host and the command; empty: it has no counters, or is not known
	command  string
	at       moment
	step     float64 // seconds between the outputs of a command that is repeated in one line; 0: unknown
}

// ParseOver is Parse for a text in which the outputs of a command follow each other by so many seconds
// where the text itself does not say it. 0: that is unknown.
func ParseOver(text string, seconds float64) (Text, error) {
	if len(text) > LargestText {
		return parseOnce(text) // which says so
	}
	pieces := piecesOf(text, quotes(text))
	if !repeats(pieces) {
		return parseOnce(text)
	}
	lines := strings.SplitAfter(text, "\n")
	before, after, left, over, untimed := readings(lines, pieces, seconds)
	if over == 0 {
		p, err := parseOnce(text)
		p.Untimed = untimed
		return p, err
	}
	first, _ := parseOnce(strings.Join(before, ""))
	p, err := parseOnce(strings.Join(after, ""))
	p.Untimed, p.Lines = untimed, p.Lines+left
	for i := range p.Machines {
		m := &p.Machines[i]
		if j := slices.IndexFunc(first.Machines, func(b netstate.HostSnapshot) bool {
			return b.Reading.Host == m.Reading.Host
		}); j >= 0 {
			m.Since(first.Machines[j], over)
		}
	}
	return p, err
}

// readings returns a text with only the first output of each command, and with only the last one. Left
// counts the lines that only the first text has. Over is the time between them in seconds; 0: nothing is
// repeated. Untimed are commands that are repeated without a time.
func readings(lines []string, pieces []piece, seconds float64) (before, after []string, left int, over float64,
	untimed []string) {
	of := map[string][]piece{}
	for _, p := range pieces {
		if p.of != "" {
			of[p.of] = append(of[p.of], p)
		}
	}
	before, after = lines, lines
	for _, p := range pieces {
		list := of[p.of]
		if len(list) < 2 || list[0] != p {
			continue
		}
		last := list[len(list)-1]
		elapsed := last.at.s - p.at.s
		switch {
		case p.at.dated == last.at.dated && elapsed > 0:
		case seconds > 0:
			elapsed = seconds * float64(len(list)-1)
		default:
			if len(untimed) < mostLost && !slices.Contains(untimed, p.command) {
				untimed = append(untimed, plain.Short(p.command, 60))
			}
			continue
		}
		if over == 0 {
			before, after = slices.Clone(lines), slices.Clone(lines)
		}
		over = max(over, elapsed)
		for i, q := range list {
			for n := q.from; n < q.to; n++ {
				if strings.TrimSpace(lines[n]) == "" {
					continue
				}
				if i > 0 {
					before[n] = "\n"
				}
				if i < len(list)-1 {
					after[n], left = "\n", left+1
				}
			}
		}
	}
	return before, after, left, over, untimed
}

var (
	months = `\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d (?:\S+ )?(?:\S+ )?\d{4}\b`
	ofDate = pattern.MustCompile(`^(?:[A-Z][a-z]{2},? )?(?:` + months +
		`|\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d.*|` + stamp + `)$`)
	stamp  = `\d{4}-\d\d-\d\d[ T_]\d\d[:.-]?\d\d[:.-]?\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?`
	inName = pattern.MustCompile(`[-_.]?(?:` + stamp + `|\d{8}[-_T]?\d{6}|\d\d[:.]?\d\d[:.]?\d\d)`)
	asleep = pattern.MustCompile(`\bsleep\s+(\d{1,6}(?:\.\d{1,6})?)([smh]?)\b`)
	// sleepsFirst matches a command that sleeps before it prints anything, and beforeOther what
	// precedes a command that prints something.
	sleepsFirst = pattern.MustCompile(`(?:^|[#$>%+] ?)sleep\s+\d`)
	beforeOther = pattern.MustCompile(`^(?:sleep\s+[\d.]+[smh]?\s*(?:;|&&)\s*|` +
		`(?:for|while|until)\b[^;]*(?:;[^;]*)?;\s*do\s+)+`)
	watched = pattern.MustCompile(`^Every (\d{1,6}(?:\.\d+)?)s: (\S.*?)(?:\s{2,}(?:([A-Za-z][\w.-]*): )?(\S.*))?$`)
	// stamped matches a prompt behind the time.
	stamped = pattern.MustCompile(`^\[?((?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?)\]?\s+(\S.*)$`)
)

// layouts are those of times in a text, to which time.Parse adds fractions of seconds by itself.
var layouts = []string{"Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 -07 2006",
	"Mon Jan _2 03:04:05 PM MST 2006", "Mon _2 Jan 2006 03:04:05 PM MST", "Mon _2 Jan 15:04:05 MST 2006",
	"Mon _2 Jan 2006 15:04:05 MST", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05",
	"2006-01-02T15:04:05", "Mon, 02 Jan 2006 15:04:05 -0700", "15:04:05", "20060102-150405", "20060102_150405",
	"20060102150405", "20060102T150405", "2006-01-02_15-04-05", "2006-01-02-15-04-05", "2006-01-02_15:04:05",
	"15.04.05", "150405"}

// timeOf parses a time. Is is false if the text is none.
func timeOf(text string) (at moment, is bool) {
	text = strings.Replace(strings.TrimSpace(text), ",", ".", 1)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return moment{float64(t.UnixMilli()) / 1e3, true}, true
		}
	}
	return at, false
}

// dateOf parses a line that has nothing but a time, as date(1) prints it. Is is false if it is none.
func dateOf(line string) (at moment, is bool) {
	const longest = 60
	if line = strings.TrimSpace(line); len(line) > longest || !ofDate.MatchString(line) {
		return at, false
	}
	return timeOf(line)
}

// untimed returns a line without the time before a prompt, and that time.
func untimed(line string) (prompt string, at moment, is bool) {
	if line == "" || line[0] != '[' && (line[0] < '0' || line[0] > '9') || !mayPrompt(line) {
		return line, at, false
	}
	m := stamped.FindStringSubmatch(line)
	if m == nil || !userPrompt.MatchString(m[2]) && !namelessPrompt.MatchString(m[2]) {
		return line, at, false
	}
	at, is = timeOf(m[1])
	return m[2], at, is
}

// seconds returns how long a command line sleeps. 0: it does not.
func seconds(line string) float64 {
	total := 0.0
	for _, m := range asleep.Regexp().FindAllStringSubmatch(line, 8) {
		n, _ := strconv.ParseFloat(m[1], 64)
		total += n * map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600}[m[2]]
	}
	return total
}

// growing are the parts of a snapshot with counters.
var growing = []string{"interfaces", "nics", "snmp", "softnet", "qdiscs", "nftables", "interrupts", "softirqs",
	"cpu times", "sockets"}

// repeats reports whether the output of a command is there more than once.
func repeats(pieces []piece) bool {
	has := map[string]bool{}
	for _, p := range pieces {
		if p.of != "" && has[p.of] {
			return true
		}
		has[p.of] = true
	}
	return false
}

// piecesOf returns the outputs of the commands of a text, at most mostRows.
func piecesOf(text string, quoted int) (list []piece) {
	now := map[string]moment{} // of each host
	host, slept, first, gap, begun := "", 0.0, "", true, false
	dated := 0 // the line with a time within the output of a command; 0: none precedes
	list = append(list, piece{of: " ", command: "the same"})
	n := -1
	for text := range strings.Lines(text) {
		if n++; len(list) >= mostRows {
			break
		}
		line := lineOf(text, quoted)
		last := &list[len(list)-1]
		if strings.TrimSpace(line) == "" {
			gap = true
			continue
		}
		if m := title.FindStringSubmatch(line); gap && m != nil && !slices.Contains(sections, m[1]) {
			host = m[1]
		}
		gap = false
		prompt, at, is := untimed(line)
		if s, begins := startOf(prompt); begins {
			last.to = n
			if s.host != "" {
				host = s.host
			}
			if is {
				now[host] = at
			} else if at, is := fileTime(line); is {
				now[host] = at
			}
			p := piece{from: n + 1, command: strings.Join(s.command, " "), step: seconds(line)}
			if w := watched.FindStringSubmatch(line); w != nil {
				p.step, _ = strconv.ParseFloat(w[1], 64)
				if at, is := timeOf(w[4]); is {
					now[host] = at
				}
			}
			if slices.ContainsFunc(s.formats, func(f *format) bool {
				return slices.Contains(growing, f.part) || strings.HasPrefix(f.name, "/sys/class/net")
			}) { // with what filters its output
				_, rest, _ := strings.Cut(prompt, s.command[0])
				p.of = host + " " + s.command[0] + rest
				if fileHead.MatchString(prompt) || watched.MatchString(prompt) {
					p.of = host + " " + p.command
				}
			}
			if sleepsFirst.MatchString(prompt) {
				slept, p.step = slept+p.step, 0
			}
			p.at = now[host]
			p.at.s += slept
			list, first = append(list, p), ""
			continue
		}
		if at, is := dateOf(line); is {
			if now[host] = at; last.from == n && !strings.HasPrefix(last.command, "date") {
				last.at = at // the first line of an output is its time
			}
			if slept = 0; first != "" && last.of != "" {
				dated = n
			}
			if last.command == "the same" {
				last.to = n
				list, first = append(list, piece{from: n + 1, of: " ", command: "the same", at: at}), ""
			}
			continue
		}
		begun = begun || len(list) == 1
		if first == "" {
			first = line
		} else if again := *last; last.of != "" && dated > 0 && uncounted(line) == uncounted(first) {
			last.to = dated
			again.from, again.at = dated, now[host]
			list = append(list, again)
		} else if last.of != "" && (last.step > 0 || last.command == "the same") && headKey(line) == headKey(first) {
			last.to = n
			again.from = n
			again.at.s += last.step
			list = append(list, again)
		}
		dated = 0
	}
	list[len(list)-1].to = n + 1
	if !begun { // there is nothing before the first command
		list = list[1:]
	}
	return list
}

// headKey returns what the first line of an output has in common with that of another output of the same
// command.
func headKey(line string) string {
	if softnetRow.MatchString(line) {
		if fields := strings.Fields(line); len(fields) >= 13 {
			return "CPU " + fields[12]
		}
	}
	return line
}

// uncounted returns a line without the number at its end, as the rows of a driver's counters have one.
func uncounted(line string) string { return strings.TrimRight(headKey(line), "0123456789") }

// fileTime returns the time in the name of a file that head(1) and tail(1) print.
func fileTime(line string) (at moment, is bool) {
	head := fileHead.FindStringSubmatch(line)
	if head == nil {
		return at, false
	}
	found := inName.Regexp().FindString(head[1])
	return timeOf(strings.TrimLeft(found, "-_."))
}
