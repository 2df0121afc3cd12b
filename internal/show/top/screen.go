package top

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"linerate/internal/model/lists"
	"linerate/internal/model/unit"
	"linerate/internal/show/text"
	"linerate/internal/show/words"
)

// mostLost is the maximum number of lines of the title and of the reasons why hosts give no
// samples.
const mostLost = 4

// Screen draws the model on a terminal with this number of columns and lines, at least 60 and 10.
// Lines and their number never exceed that. Height 0: all lines, without the line of keys.
func Screen(m Model, width, height int) string {
	v := view{Model: m, width: width, height: height, at: -1}
	if len(m.Hosts) > 0 {
		v.host = m.Hosts[min(m.Shown, len(m.Hosts)-1)]
		v.at = m.now(v.host)
	}
	lines := []string{v.title()}
	bottom := []string{}
	if height > 0 {
		bottom = []string{v.keys()}
	}
	for _, h := range m.Hosts {
		if h.Lost != "" && len(lines) < mostLost {
			lines = append(lines, v.paint(text.Red, fit(h.Name+": "+h.Lost, width)))
		}
	}
	var sections []section
	switch {
	case m.Help:
		sections = []section{v.help()}
	default:
		sections = v.sections()
	}
	room := height - len(lines) - len(bottom)
	if height <= 0 {
		room = 1 << 20
	}
	lines = append(lines, v.laid(sections, room)...)
	if height > 0 {
		for len(lines) < height-len(bottom) {
			lines = append(lines, "")
		}
		lines = append(lines[:max(0, height-len(bottom))], bottom...)
	}
	return strings.Join(lines, "\n")
}

// laid returns the lines of sections that fit into room: each section gets its head and its least
// lines while there is space, then the sections get lines in turn. Empty lines before heads come
// last.
func (v view) laid(sections []section, room int) (lines []string) {
	shown, left := make([]int, len(sections)), room
	for i, s := range sections {
		n := min(len(s.lines), s.least)
		if s.whole {
			n = len(s.lines)
		}
		if cost := n + min(1, len(s.head)); cost <= left {
			shown[i], left = n, left-cost
		} else if left > 1 {
			shown[i], left = left-1, 0
		} else {
			sections[i].lines, sections[i].head = nil, ""
		}
	}
	gaps := lists.Sum(sections[min(1, len(sections)):], func(s section) int { return min(1, len(s.head)) })
	for given := true; given && left > 0; {
		given = false
		for i, s := range sections {
			if shown[i] < len(s.lines) && left > 0 {
				shown[i], left, given = shown[i]+1, left-1, true
			}
		}
	}
	spaced := left >= gaps
	for i, s := range sections {
		if s.head != "" {
			if spaced && i > 0 {
				lines = append(lines, "")
			}
			head := s.head
			if more := fmt.Sprintf(" +%d", len(s.lines)-shown[i]); shown[i] < len(s.lines) &&
				shownWidth(head)+len(more) <= v.width {
				head += v.paint(text.Yellow, more)
			}
			lines = append(lines, head)
		}
		lines = append(lines, s.lines[:shown[i]]...)
	}
	return lines
}

// shownWidth returns the width of a line without its attributes.
func shownWidth(line string) (width int) {
	for len(line) > 0 {
		if n, _ := text.Attribute([]byte(line)); n > 0 {
			line = line[n:]
			continue
		}
		_, size := utf8.DecodeRuneInString(line)
		width, line = width+words.Width(line[:size]), line[size:]
	}
	return width
}

// tall is the height from which a screen has space for the evidence of findings.
const tall = 45

// sections returns those of the view: of one kind, or of all kinds.
func (v view) sections() (list []section) {
	var all []section
	if v.at < 0 {
		all = []section{v.hosts()}
	} else {
		all = v.parts()
	}
	return lists.Where(all, func(s section) bool { return len(s.lines) > 0 })
}

func (v view) parts() []section {
	switch v.View {
	case Interfaces:
		return []section{v.interfaces(), v.drops()}
	case CPUs:
		return []section{v.cpus()}
	case Queues:
		return []section{v.queues(false), v.drops()}
	case Flows:
		return []section{v.protocols(), v.flows()}
	case Findings:
		return []section{v.findings(true)}
	}
	findings := v.found()
	if v.height >= tall || v.height <= 0 {
		findings = v.findings(false)
	}
	return []section{v.protocols(), v.hosts(), v.interfaces(), v.cpus(), v.queues(true), v.flows(), findings}
}

// title says which sample is displayed: its host, time and window.
func (v view) title() string {
	parts := []string{"linerate top"}
	right := ""
	if v.host.Name != "" {
		name := v.host.Name
		if len(v.Hosts) > 1 {
			name += fmt.Sprintf(" (%d of %d)", v.Shown+1, len(v.Hosts))
		}
		parts = append(parts, name)
	}
	attribute := ""
	if v.at < 0 {
		parts = append(parts, "waiting for the first sample")
	} else {
		s := v.sample()
		parts = append(parts, v.clock(s.Taken), fmt.Sprintf("over %.2f s", s.WindowS))
		if s.UptimeS > 0 && v.width >= 80 {
			parts = append(parts, "up "+uptime(s.UptimeS))
		}
		switch back := v.host.Samples[len(v.host.Samples)-1].Taken.Sub(s.Taken); {
		case !v.At.IsZero():
			right, attribute = "paused", text.Yellow+text.Bold
			if back > 0 {
				right += fmt.Sprintf(", %s ago", unit.FormatTime(back))
			}
		case v.Ended != "":
			right = v.Ended
		}
	}
	right = fit(right, v.width/3)
	left := fit(strings.Join(parts, " · "), v.width-words.Width(right)-1)
	space := strings.Repeat(" ", v.width-words.Width(left)-words.Width(right))
	return strings.TrimRight(v.paint(text.Bold, left)+space+v.paint(attribute, right), " ")
}

func uptime(s float64) string {
	d := time.Duration(min(s, 1e9)) * time.Second
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
	}
	return unit.FormatTime(d)
}

// keys returns the last line.
func (v view) keys() string {
	list := []string{"q quit", "1–6 views", "s sort: " + orderNames[v.Order], "space pause", "← → history"}
	if len(v.Hosts) > 1 {
		list = append(list, "n next host")
	}
	return v.paint(text.Dim, fit(strings.Join(append(list, "? help"), "  "), v.width))
}

func (v view) help() section {
	var lines []string
	for _, r := range [][2]string{
		{"1 … 6, Tab", "overview, interfaces, CPUs, queues, flows, findings"},
		{"s", "sort by rate, packets, loss (drops, retransmissions), name"},
		{"space", "pause, and go on with the newest sample"},
		{"← →", "the sample before, and the one after; PgUp, PgDn: ten"},
		{"Home, End", fmt.Sprintf("the oldest of %d samples that are kept, and the newest", History)},
		{"n, p", "the next host, and the one before"},
		{"q, Ctrl-C", "quit"},
		{"bit/s", "as the interface counts, headers included; of flows, payload"},
		{
			"%",
			"of the link's speed, with preamble, check sequence and gap; of what is sent also of a slower " +
				"shaper's rate"},
		{"drop/s", "packets of the interface and its qdiscs; key 2 has the counters"},
		{"packets/s", "of a CPU: those of softnet_stat, of all network namespaces"},
		{"limited by", "what holds a flow's sending back, by TCP_INFO"},
		{"+3", "behind a heading: so many further rows"},
	} {
		head := fmt.Sprintf("  %-12s", r[0])
		for line := range strings.Lines(text.Paragraph(head, strings.Repeat(" ", 14), r[1], v.width)) {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return section{head: v.paint(text.Dim, "Any key returns."), lines: lines, whole: true}
}
