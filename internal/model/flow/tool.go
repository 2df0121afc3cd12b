package flow

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// OwnTool is the name of linerate's own traffic engines among the tools.
const OwnTool = "linerate"

// Tools lists OwnTool and the tools that package tool describes.
var Tools = []string{OwnTool, "iperf3", "iperf", "netperf", "nuttcp", "sockperf", "qperf", "wrk", "ab", "h2load",
	"dnsperf", "smtp-source"}

// Tool is the program that makes the traffic of a flow: one of Tools or, with Client, any other.
// The zero value is linerate. Words can contain variables such as $ADDRESS, $PORT and $SECONDS,
// which package tool expands.
type Tool struct {
	Name string `yaml:"name" json:"name,omitempty" doc:"a tool that linerate knows; with client: what the program is called in reports (the program's own name by default)" short:"true"`
	// Client and Server are commands: the program and its arguments.
	Client []string `yaml:"client" json:"client,omitempty" doc:"command of any other program, which connects to $ADDRESS and $PORT; without $SECONDS or $TIME in it, it is interrupted (SIGINT) at the trial's stop"`
	Server []string `yaml:"server" json:"server,omitempty" doc:"command of its server, which listens on $PORT; without one, something else listens on port, or linerate serves the flow's application protocol"`
	// Port is the TCP or UDP port that the client connects to. 0: a free one.
	Port int `yaml:"port" json:"port,omitempty" doc:"port that the client connects to, if it is fixed; by default $PORT is one that is free"`
	// Figure is a regular expression that finds the result in the output of the client. Empty: the
	// tool reports none.
	Figure string `yaml:"figure" json:"figure,omitempty" doc:"regular expression (RE2) whose group is the figure in what the client prints; the last match counts. A second group named unit, (?P<unit>…), is the figure's unit"`
	Unit   string `yaml:"unit" json:"unit,omitempty" doc:"unit of the figure"`
	// CountedBy is the end that counts the result. Empty: the client.
	CountedBy string `yaml:"counted_by" json:"counted_by,omitempty" doc:"end that counts the figure; by default the client's" enum:"sender,receiver"`
}

// Units has the value of each unit of results in bit/s or, for Requests, in transactions per second.
var Units = map[string]float64{
	"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
	"B/s": 8, "kB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9, "KiB/s": 8 << 10, "MiB/s": 8 << 20, "GiB/s": 8 << 30,
	Requests: 1,
}

// Requests is the unit of results in transactions per second.
const Requests = "requests/s"

// Described reports whether the tool is described by commands and is not one of Tools.
func (t Tool) Described() bool { return len(t.Client) > 0 }

// String returns the name of the tool.
func (t Tool) String() string {
	if t.Name == "" && t.Described() {
		return path.Base(t.Client[0])
	}
	return t.Name
}

// Figures returns the compiled Figure. Nil: the tool reports none.
func (t Tool) Figures() (*regexp.Regexp, error) {
	if t.Figure == "" {
		return nil, nil
	}
	if len(t.Figure) > maxFigure {
		return nil, fmt.Errorf("figure: expected at most %d bytes", maxFigure)
	}
	return regexp.Compile("(?m)" + t.Figure)
}

// Bounds of a description. It is part of each request to an agent.
const (
	maxFigure = 1000
	maxWords  = 200
	maxWord   = 4096
)

// check returns what is wrong with the description.
func (t Tool) check() string {
	switch {
	case !t.Described() && !reflect.DeepEqual(t, Tool{Name: t.Name}):
		return ": a description needs client"
	case !t.Described() && !slices.Contains(Tools, t.Name):
		return fmt.Sprintf(" %.40q: expected %s, or a description with client", t.Name, strings.Join(Tools, ", "))
	case t.Port < 0 || t.Port > 65535:
		return fmt.Sprintf(": port %d: expected 1 to 65535", t.Port)
	case t.CountedBy != "" && t.CountedBy != "sender" && t.CountedBy != "receiver":
		return fmt.Sprintf(": counted_by %.40q: expected sender or receiver", t.CountedBy)
	}
	for key, words := range map[string][]string{"client": t.Client, "server": t.Server} {
		if len(words) > maxWords || slices.ContainsFunc(words, func(w string) bool {
			return len(w) > maxWord || strings.Contains(w, "\x00")
		}) {
			return fmt.Sprintf(": %s: expected at most %d words of at most %d bytes each", key, maxWords, maxWord)
		}
		if len(words) > 0 && (words[0] == "" || strings.Contains(words[0], "/") && !path.IsAbs(words[0])) {
			return fmt.Sprintf(": %s: expected a program's name or its absolute path, found %.40q", key, words[0])
		}
	}
	return t.checkFigure()
}

func (t Tool) checkFigure() string {
	expression, err := t.Figures()
	if err != nil {
		return fmt.Sprintf(": figure: %v", err)
	}
	_, known := Units[t.Unit]
	switch {
	case expression == nil && t.Unit+t.CountedBy != "":
		return ": unit and counted_by are of a figure, and there is none"
	case expression == nil:
	case slices.Contains(expression.SubexpNames(), "unit") == (t.Unit != ""):
		return ": figure: expected either unit or a group named unit"
	case expression.MatchString(""):
		return ": figure: it matches an empty text, and so at any place"
	case t.Unit != "" && !known:
		return fmt.Sprintf(": unit %.40q: expected such as Mbit/s, MB/s, MiB/s or %s", t.Unit, Requests)
	case expression.NumSubexp() < 1 || expression.NumSubexp() == 1 && t.Unit == "":
		return ": figure: expected a group, ( ), which is the figure"
	}
	return ""
}

// MarshalJSON writes only the name of a tool without a description, as in records from before
// descriptions existed.
func (t Tool) MarshalJSON() ([]byte, error) {
	if !t.Described() {
		return json.Marshal(t.Name)
	}
	type plain Tool
	return json.Marshal(plain(t))
}

// UnmarshalJSON reads a name or a description.
func (t *Tool) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		type plain Tool
		return json.Unmarshal(text, (*plain)(t))
	}
	*t = Tool{}
	return json.Unmarshal(text, &t.Name)
}
