package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

//go:embed page.tmpl
var pageText string

//go:embed page.css
var pageStyle string

// The template escapes every word for the place it stands in; only what this
// package itself draws or encodes is passed in as markup, style or address.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"moment": moment}).Parse(pageText))

// page is what the template shows.
type page struct {
	Run                   *record.Run
	Style                 template.CSS
	Facts, Warnings       []string
	Published             []string
	Answer                string
	Started, Duration     string
	TrustLine, TrustTitle string
	Failed                []failedCheck
	Checks                []checkSummary

	Responses                    []*pageFigure
	Interfaces, Topology, Series *pageFigure
	Hashed                       *pageFigure // goodput by the number of flows, beside theory
	Forest, Predicted            *pageFigure // effects; what flows got over what was predicted
	HashedLines                  []hashedLine
	HashedRows                   bool // of several rows
	HashedNote                   string
	Along                        bool // the run is about nothing else
	OnWays                       *pageFigure

	More            []pagePanel
	Table           pageTable
	Settings        []pageSettings
	Ways            []wayRow
	WaysTitle       string
	WaysUnit        string
	WaysCSV         template.URL
	Outages         []outageRow
	OutagesNote     string
	OutagesCSV      template.URL
	Searches        []searchMade
	SearchesCSV     template.URL
	Neighbours      []pageTables
	NeighboursTitle string
	NeighboursCSV   template.URL

	FindingsTitle      string
	Findings           []pageFinding
	Effects            []pageEffect
	Confidence, Margin string
	EffectsCSV         template.URL
	Ratios             string   // of what
	Several            bool     // responses
	Limited            bool     // some trial has a limit
	Measured           []string // heads of the trials' values
	Held               []pageHeld
	Foretold           bool // something was predicted
	HeldUnit           string
	HeldCSV            template.URL
	Routing            string
	Machines           []pageMachine
	MachinesCSV        template.URL
	Trials             []pageTrial
	TrialsCSV          template.URL
}

type pageFigure struct {
	Name, Title, Note string
	Panels            []pagePanel
	CSV               template.URL
}

// pagePanel is drawn twice, for a page and for a phone; the style shows one.
type pagePanel struct {
	Title        string
	Wide, Narrow template.HTML
}

// HTML writes the run as one page that needs no network and no script.
func HTML(w io.Writer, run *record.Run) error {
	p, err := newPage(newView(run))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("fill in the page of run %s: %w", run.ID, err)
	}
	_, err = w.Write(bytes.Map(printable, b.Bytes()))
	return err
}

// printable replaces the control characters that HTML forbids and escaping
// leaves alone.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return unicode.ReplacementChar
	}
	return r
}

func newPage(v *view) (*page, error) {
	run := v.run
	p := &page{Run: run, Facts: v.facts(), Warnings: v.warnings(), Published: v.published(), Answer: v.answer(), Started: moment(run.Started),
		Duration: seconds(run.DurationS), Style: style(),
		Table: v.whole().pageTable(), Settings: v.pageSettings(),
		Findings: v.pageFindings(), Effects: v.pageEffects(), EffectsCSV: template.URL(dataURI(v.table("effects"))),
		Held: v.pageHeld(), Foretold: predictions(v.heldBack()), HeldUnit: heldScale(v.heldBack()).unit, HeldCSV: template.URL(dataURI(v.heldCSV())),
		Routing:  v.routing(),
		Machines: v.pageMachines(), MachinesCSV: template.URL(dataURI(v.table("cpus"))),
		Outages: v.outages(), OutagesNote: outagesNote, OutagesCSV: template.URL(dataURI(v.table("outages"))),
		Searches: searches(run), SearchesCSV: template.URL(dataURI(v.table("search"))),
		Trials: v.pageTrials(), TrialsCSV: template.URL(dataURI(v.table("trials"))),
	}
	var ratios []string
	for _, m := range v.measures {
		p.Measured, ratios = append(p.Measured, m.head()), append(ratios, m.Label)
	}
	p.Limited = slices.ContainsFunc(p.Trials, func(t pageTrial) bool { return t.OfLimit != "" })
	p.Ratios, p.Several = list(ratios), len(ratios) > 1
	p.trust(v)
	p.FindingsTitle = "No findings"
	if n := len(run.Findings); n > 0 {
		p.FindingsTitle = count(n, "finding")
	}
	if run.Confidence > 0 {
		p.Confidence = percent(run.Confidence)
	}
	if run.Margin > 0 {
		p.Margin = percent(run.Margin)
	}
	p.HashedLines, p.HashedNote, p.Along = v.hashedLines(), v.hashedNote(), v.alongCurve()
	p.HashedRows = len(p.HashedLines) > 0 && p.HashedLines[0].Row != ""
	for _, f := range v.figuresOf() {
		shown, err := showFigure(f)
		if err != nil {
			return nil, err
		}
		switch f.Name {
		case "flows":
			p.Hashed = shown
		case "effects":
			p.Forest = shown
		case "predicted":
			p.Predicted = shown
		case "interfaces":
			p.Interfaces = shown
		case "topology":
			p.Topology = shown
		case "ways":
			p.OnWays = shown
		case "series":
			p.Series = shown
		default:
			if !p.Along { // the curves show it
				p.Responses = append(p.Responses, shown)
			}
		}
	}
	if p.Topology != nil {
		more, err := v.otherTopologies()
		if err != nil {
			return nil, err
		}
		p.More = more
	}
	p.neighbours(v)
	p.ways(v)
	return p, nil
}

// style declares the palette for light and dark pages, and for paper.
func style() template.CSS {
	light, dark := figure.Variables(false)+"--tint:#fdeee2", figure.Variables(true)+"--tint:#3b2412"
	return template.CSS(":root{color-scheme:light dark;" + light + "}\n@media (prefers-color-scheme:dark){:root{" + dark + "}}\n" +
		"@media print{:root{" + light + "}}\n" + pageStyle + figure.Classes())
}

func showFigure(f Figure) (*pageFigure, error) {
	out := &pageFigure{Name: f.Name, Title: f.Title, Note: f.note, CSV: template.URL(dataURI(f.csv))}
	for _, p := range f.panels {
		shown, err := showPanel(p, f.Title, f.panelWidth())
		if err != nil {
			return nil, fmt.Errorf("draw figure %s: %w", f.Name, err)
		}
		out.Panels = append(out.Panels, shown)
	}
	return out, nil
}

func showPanel(p panel, label string, width float64) (pagePanel, error) {
	label = strings.TrimPrefix(p.title+": "+label, ": ")
	var wide, narrow bytes.Buffer
	if err := figure.InlineSVG(&wide, p.draw(width), label, "wide"); err != nil {
		return pagePanel{}, err
	}
	if err := figure.InlineSVG(&narrow, p.draw(narrowFigure), label, "narrow"); err != nil {
		return pagePanel{}, err
	}
	return pagePanel{p.title, template.HTML(wide.String()), template.HTML(narrow.String())}, nil
}

// mostTopologies bounds the folded drawings: beyond, the table of interfaces says it
// better and the page stays small.
const mostTopologies = 24

func (v *view) otherTopologies() ([]pagePanel, error) {
	shown := map[spot]bool{}
	for _, s := range v.spots() {
		shown[s] = true
	}
	var out []pagePanel
	for i := range v.rows {
		for c := range v.columns {
			r := &v.rows[i]
			if shown[spot{r, c}] || r.cells[c].Treatment == nil || len(out) == mostTopologies {
				continue
			}
			drawn, err := showPanel(v.topologyPanel(r, c), "load of every link", (wideFigure-panelGap)/2)
			if err != nil {
				return nil, fmt.Errorf("draw the topology of %s: %w", v.label(r, c), err)
			}
			out = append(out, drawn)
		}
	}
	return out, nil
}

type failedCheck struct{ Check, Trial, Treatment, Detail string }

type checkSummary struct {
	Check, Detail, Result string
	Failed                int
}

func (p *page) trust(v *view) {
	run := v.run
	index := map[string]int{}
	for _, c := range run.Trust {
		i, ok := index[c.Check]
		if !ok {
			i = len(p.Checks)
			index[c.Check] = i
			p.Checks = append(p.Checks, checkSummary{Check: c.Check, Detail: c.Detail})
		}
		s := &p.Checks[i]
		if c.Pass {
			continue
		}
		if s.Failed++; s.Failed == 1 {
			s.Detail = c.Detail
		}
		f := failedCheck{Check: c.Check, Detail: c.Detail, Trial: "run"}
		if c.Trial > 0 {
			f.Trial = fmt.Sprint(c.Trial)
			if t := trialOf(run, c.Trial); t != nil {
				f.Treatment = t.Treatment
			}
		}
		p.Failed = append(p.Failed, f)
	}
	for i := range p.Checks {
		switch s := &p.Checks[i]; {
		case s.Failed > 1:
			s.Result = fmt.Sprintf("failed %d times", s.Failed)
		case s.Failed > 0:
			s.Result = "failed"
		default:
			s.Result = "passed"
		}
	}
	p.TrustTitle = "Every trust check passed"
	if len(p.Failed) > 0 {
		p.TrustTitle = sentence(v.failedTrials())
	} else if len(run.Trust) > 0 {
		p.TrustLine = v.trustLine()
	}
}

// pageTables are the neighbour and forwarding tables of one treatment.
type pageTables struct {
	Title    string
	Folded   bool
	Hosts    []neighbourTable
	More     []neighbourTable // folded
	Switches []fdbTable
}

// mostTables is how many hosts' tables are shown side by side with the switch's.
const mostTables = 6

// fold keeps the tables of clients in sight, those with wrong rows first, and
// folds the rest: the host in question among them, unless it is wrong itself.
func (v *view) fold(hosts []neighbourTable) (shown, folded []neighbourTable) {
	for _, wrong := range []bool{true, false} {
		for _, h := range hosts {
			if (h.Wrong > 0) != wrong {
				continue
			}
			if len(shown) < mostTables && (wrong || h.Host != v.focus || len(hosts) == 1) {
				shown = append(shown, h)
			} else {
				folded = append(folded, h)
			}
		}
	}
	return shown, folded
}

func (p *page) neighbours(v *view) {
	csv := [][]string{{"treatment", "trial", "host", "interface", "address", "held_by", "mac", "of_port", "switch_sends_to", "state", "wrong"}}
	for c := range v.columns {
		for _, r := range v.pair() {
			t := r.cells[c].Treatment
			trial := v.shown(t)
			if trial == nil {
				continue
			}
			hosts, switches := v.tables(trial)
			if len(hosts) == 0 {
				continue
			}
			title := fmt.Sprintf("%s (trial %d)", v.label(r, c), trial.Order)
			if n, of := v.affected(t); n > 0 {
				title += fmt.Sprintf(": wrong entries in %d of %s", n, count(of, "trial"))
			}
			open, folded := v.fold(hosts)
			p.Neighbours = append(p.Neighbours, pageTables{title, c > 0, open, folded, switches})
			for _, h := range hosts {
				for _, e := range h.Rows {
					csv = append(csv, []string{t.Name, fmt.Sprint(trial.Order), h.Host, e.Interface, e.Address, e.HeldBy, e.MAC, e.BelongsTo, e.Delivers, e.State, fmt.Sprint(e.Wrong)})
				}
			}
		}
	}
	p.NeighboursTitle = v.neighboursTitle()
	p.NeighboursCSV = template.URL(dataURI(csv))
}
