package html

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/answer"
	"linerate/internal/show/present"
	"linerate/internal/show/showtest"
	"linerate/studies"
)

// element is a start tag of a page, with the text directly inside it.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

// parse reads a page as XML, which is stricter than browsers are: every tag
// closed, every character escaped.
func parse(t *testing.T, name string, page []byte) []*element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	var all, open []*element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all, open = append(all, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += plainSpaces(string(token))
			}
		}
	}
}

func html(t *testing.T, run *record.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Run(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// plainSpaces is text as its words are searched for (unbroken).
func plainSpaces(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

// TestQuantitiesStayWhole: no line of a page is broken between a number and its unit; what is
// copied has plain spaces.
func TestQuantitiesStayWhole(t *testing.T) {
	for text, want := range map[string]string{
		"p50 1.75 ms":                  "p50 1.75\u00a0ms",
		"286.9 Mbit/s, 99.6 % of 1 GB": "286.9\u00a0Mbit/s, 99.6\u00a0% of 1\u00a0GB", "1 m 52 s": "1\u00a0m 52\u00a0s",
		"2 flows of 3 hosts": "2 flows of 3 hosts", "5 minutes": "5 minutes", "eth0 m": "eth0\u00a0m",
		"20 k/s": "20\u00a0k/s",
	} {
		if got := unbroken(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	broken, copied := regexp.MustCompile(`>[^<]*[0-9] (Mbit/s|MB/s|%|ms|s)[ ,.;)<]`),
		regexp.MustCompile(`(?s)<(style|svg|pre|code|head)[ >].*?</(style|svg|pre|code|head)>`)
	for name, run := range showtest.Variants() {
		page := html(t, run)
		if found := broken.Find(copied.ReplaceAll(page, nil)); found != nil {
			t.Errorf("%s: %s", name, found)
		}
		if i := bytes.Index(page, []byte("<pre>")); i >= 0 &&
			bytes.Contains(page[i:i+bytes.Index(page[i:], []byte("</pre>"))], []byte("\u00a0")) {
			t.Errorf("%s: no-break spaces in a listing", name)
		}
	}
}

func TestPageNeedsNothingFromOutside(t *testing.T) {
	allowed := map[string]bool{"html": true, "head": true, "meta": true, "title": true, "style": true, "body": true,
		"main": true, "header": true,
		"section": true, "article": true, "figure": true, "figcaption": true, "div": true, "p": true, "span": true,
		"h1": true, "h2": true, "h3": true, "h4": true,
		"ul": true, "li": true, "a": true, "code": true, "pre": true, "br": true, "details": true, "summary": true,
		"table": true, "caption": true, "thead": true, "tbody": true, "tr": true, "th": true, "td": true,
		"svg": true, "text": true, "polygon": true, "polyline": true, "circle": true}
	for name, run := range showtest.Variants() {
		elements, within := parse(t, name, html(t, run)), map[string]bool{}
		for _, e := range elements {
			within["#"+e.attrs["id"]] = true
		}
		for _, e := range elements {
			if !allowed[e.name] {
				t.Errorf("%s: element <%s>", name, e.name)
			}
			for attr, value := range e.attrs {
				switch {
				case attr == "href" && strings.HasPrefix(value, "data:text/csv;charset=utf-8,"):
				case attr == "href" && e.name == "a" &&
					strings.HasPrefix(value, "https://"): // followed by the reader, not by the page
				case attr == "href" && e.name == "a" && within[value]:
				case attr == "href", attr == "src", attr == "style", strings.HasPrefix(attr, "on"):
					t.Errorf("%s: <%s %s=%q>", name, e.name, attr, value)
				}
			}
			if e.name == "style" && regexp.MustCompile(`url\(|@import|@font-face|expression|ZgotmplZ`).MatchString(
				e.text) {
				t.Errorf("%s: the style loads something", name)
			}
			if slices.Contains([]string{"p", "td", "h1", "h2", "h3", "text"}, e.name) &&
				regexp.MustCompile(`NaN|Inf|ZgotmplZ|%!|<nil>`).MatchString(e.text) {
				t.Errorf("%s: <%s> says %q", name, e.name, e.text)
			}
		}
	}
}

func TestPageEscapesWhatUsersWrite(t *testing.T) {
	page := html(t, showtest.Hostile())
	if bytes.Contains(bytes.ToLower(page), []byte("<script")) || bytes.Contains(page, []byte("<img")) {
		t.Error("markup of the study is markup of the page")
	}
	elements := parse(t, "hostile", page)
	found := 0
	for _, e := range elements {
		if strings.Contains(e.text, `<script>alert("x")</script>`) {
			found++
		}
		if strings.Contains(e.attrs["href"], "javascript") {
			t.Errorf("a link to %s", e.attrs["href"])
		}
	}
	if found < 10 {
		t.Errorf("the words of the study appear %d times, expected them wherever they belong", found)
	}
}

func TestPageShows(t *testing.T) {
	elements := parse(t, "arp-flux", html(t, showtest.ArpFlux()))
	var h1, h2, folded []string
	wrong := 0
	for _, e := range elements {
		switch e.name {
		case "h1":
			h1 = append(h1, e.text)
		case "h2":
			h2 = append(h2, e.text)
		case "summary":
			folded = append(folded, e.text)
		case "tr":
			if e.attrs["class"] == "wrong" {
				wrong++
			}
		}
	}
	if len(h1) != 1 || h1[0] != answer.Run(showtest.ArpFlux()).Headline {
		t.Errorf("h1 is %q", h1)
	}
	want := []string{
		"4 findings",
		"Goodput: 25 % of the limit at “kernel defaults”; 100 % with “arp + source routing”",
		"Writes: 4 improve goodput and 2 are inconclusive; reads: 2 improve goodput and 4 make no difference",
		"1 of 4 interfaces of server carries the data at “kernel defaults”; 4 of 4 with “arp + source routing”",
		"1 link is full at “kernel defaults”; 4 with “arp + source routing”",
		"Every busy interface of server carries at a steady rate through the window, within 0.9 %",
		"6 of 10 neighbour entries lead to the wrong interface at “kernel defaults”; none with “arp + source routing”",
		"Every trust check passed", "Environment", "Make this run again",
	}
	if !slices.Equal(h2, want) {
		t.Errorf("sections\n%s\nexpected\n%s", strings.Join(h2, "\n"), strings.Join(want, "\n"))
	}
	for _, want := range []string{"2 findings in other treatments only: arp-wrong-source and rp-filter-drop",
		"Every check"} {
		if !slices.Contains(folded, want) {
			t.Errorf("nothing is folded as %q: %q", want, folded)
		}
	}
	if wrong != 12 { // three on each of two clients, per condition
		t.Errorf("%d rows are marked wrong, expected 12", wrong)
	}
	sound := showtest.ArpFlux()
	for i := range sound.Trials {
		for _, h := range sound.Trials[i].Hosts[1:] { // the clients
			for n := range h.Snapshot.Neighbours {
				h.Snapshot.Neighbours[n].MAC = sound.Topology.MAC(sound.Topology.Links[n].From)
			}
		}
	}
	for _, e := range parse(t, "sound", html(t, sound)) {
		if e.attrs["class"] == "wrong" {
			t.Error("a right row is marked wrong")
		}
	}
}

func TestDoubtStandsBesideTheAnswer(t *testing.T) {
	for _, name := range []string{"in-doubt", "interrupted", "budget"} {
		at, figure := -1, -1
		for i, e := range parse(t, name, html(t, showtest.Variants()[name])) {
			if e.attrs["role"] == "alert" && at < 0 {
				at = i
			}
			if e.name == "figure" && figure < 0 {
				figure = i
			}
		}
		if at < 0 || at > figure {
			t.Errorf("%s: the warning is element %d, the first figure %d", name, at, figure)
		}
	}
}

func TestDataIsOneClickAway(t *testing.T) {
	want := map[string]int{"goodput.csv": 15, "interfaces.csv": 85, "topology.csv": 85, "series.csv": 161,
		"effects.csv": 13, "trials.csv": 57, "neighbours.csv": 53}
	got := map[string]int{}
	for _, e := range parse(t, "arp-flux", html(t, showtest.ArpFlux())) {
		if e.attrs["download"] == "" {
			continue
		}
		_, data, _ := strings.Cut(e.attrs["href"], ",")
		text, err := url.PathUnescape(data)
		if err != nil {
			t.Fatal(err)
		}
		table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", e.attrs["download"], err)
		}
		got[e.attrs["download"]] = len(table)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("lines of the tables: %v, expected %v", got, want)
	}
}

func TestSpreadsheetsSeeNoFormula(t *testing.T) {
	uri := dataURI([][]string{{"name", "value"}, {"=1+1", "-1.5"}, {"+x", "2e3"}, {"a,b\"c", "@y"}})
	text, _ := url.PathUnescape(strings.TrimPrefix(uri, "data:text/csv;charset=utf-8,"))
	if want := "name,value\n'=1+1,-1.5\n'+x,2e3\n\"a,b\"\"c\",'@y\n"; text != want {
		t.Errorf("got %q, expected %q", text, want)
	}
}

func TestFiguresAreFiles(t *testing.T) {
	number := regexp.MustCompile(`^-?[0-9.]+$`)
	for name, run := range showtest.Variants() {
		for _, f := range present.Figures(run) {
			var b bytes.Buffer
			if err := f.WriteSVG(&b); err != nil {
				t.Fatal(err)
			}
			elements := parse(t, name+" "+f.Name, b.Bytes())
			if len(elements) < 4 || elements[0].name != "svg" || f.Title == "" {
				t.Errorf("%s %s: %d elements, title %q", name, f.Name, len(elements), f.Title)
			}
			for _, e := range elements {
				for _, attr := range []string{"x", "y", "r", "stroke-width"} {
					if v := e.attrs[attr]; v != "" && !number.MatchString(v) {
						t.Errorf("%s %s: <%s %s=%q>", name, f.Name, e.name, attr, v)
					}
				}
			}
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "arp-flux-7")
	defer syscall.Umask(syscall.Umask(0o022))
	paths, err := Write(dir, showtest.ArpFlux())
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		want := fs.FileMode(0o600)
		if e.Name() == "report.html" {
			want = 0o644 // by this umask
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", e.Name(), info.Mode(), err, want)
		}
	}
	if !slices.Equal(names, []string{"report.html", "run.json", "trials.jsonl.gz"}) ||
		paths.Page != filepath.Join(dir, "report.html") || paths.JSON != filepath.Join(dir, "run.json") {
		t.Errorf("wrote %q, said %+v", names, paths)
	}
	path := paths.Page
	if _, err := Write(path, showtest.ArpFlux()); err == nil || !strings.Contains(err.Error(), "make directory "+path) {
		t.Errorf("a file as directory: %v", err)
	}
}

// TestUniform: where one thing held all flows back the table of them is folded.
func TestUniform(t *testing.T) {
	run := showtest.ArpFlux()
	folded := func() bool {
		return slices.ContainsFunc(parse(t, "held back", html(t, run)), func(e *element) bool {
			return e.name == "summary" && e.text == "Every treatment"
		})
	}
	for i := range run.Trials {
		for j := range run.Trials[i].Flows {
			run.Trials[i].Flows[j].LimitedBy = "full link"
		}
	}
	if !folded() {
		t.Error("a table that says one thing in all rows is not folded")
	}
	run.Trials[0].Flows[0].LimitedBy = "sender"
	if folded() {
		t.Error("a table that says two things is folded")
	}
}

// TestFixIsShown: the page has the commands of the recommended treatment, by host.
func TestFixIsShown(t *testing.T) {
	run := showtest.ArpFlux()
	text, err := studies.Files.ReadFile("arp-flux.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run.StudyFile = string(text)
	var shown []string
	for _, e := range parse(t, "fix", html(t, run)) {
		if e.name == "p" || e.name == "pre" {
			shown = append(shown, e.text)
		}
	}
	if i := slices.Index(shown, "on server:"); i < 0 || i+1 == len(shown) ||
		!strings.Contains(shown[i+1], "ip rule add from 192.168.1.18 lookup 103") {
		t.Errorf("the commands are not on the page: %q", shown)
	}
}
