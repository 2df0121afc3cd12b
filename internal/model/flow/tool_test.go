package flow

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestToolCheck: what a description may not be.
func TestToolCheck(t *testing.T) {
	good := Tool{Client: []string{"bench", "$ADDRESS"}, Server: []string{"/opt/bench", "$PORT"},
		Figure: `rate ([\d.]+)`, Unit: "MB/s", CountedBy: "receiver"}
	for _, test := range []struct {
		change func(*Tool)
		wrong  string
	}{
		{func(*Tool) {}, ""},
		{func(d *Tool) { d.Figure, d.Unit = `rate ([\d.]+) (?P<unit>\S+)`, "" }, ""},
		{func(d *Tool) { d.Figure, d.Unit, d.CountedBy = "", "", "" }, ""},
		{func(d *Tool) { d.Server, d.Port = nil, 22 }, ""},
		{func(d *Tool) { *d = Tool{Name: "iperf3"} }, ""},
		{func(d *Tool) { *d = Tool{Name: "netcat"} }, "expected linerate, iperf3"},
		{func(d *Tool) { d.Client = nil }, "a description needs client"},
		{func(d *Tool) { d.Client[0] = "./bench" }, "expected a program's name or its absolute path"},
		{func(d *Tool) { d.Server[0] = "" }, "server: expected a program's name"},
		{func(d *Tool) { d.Client = append(d.Client, strings.Repeat("x", maxWord+1)) }, "at most 4096 bytes"},
		{func(d *Tool) { d.Client = append(d.Client, make([]string, maxWords)...) }, "at most 200 words"},
		{func(d *Tool) { d.Client = append(d.Client, "a\x00b") }, "expected at most"},
		{func(d *Tool) { d.Port = 65536 }, "expected 1 to 65535"},
		{func(d *Tool) { d.Figure = "(" }, "missing closing"},
		{func(d *Tool) { d.Figure = "([0-9]*)" }, "matches an empty text"},
		{func(d *Tool) { d.Figure = "rate" }, "expected a group"},
		{func(d *Tool) { d.Figure = strings.Repeat("(a)", maxFigure) }, "at most 1000 bytes"},
		{func(d *Tool) { d.Figure = "(?P<unit>x)"; d.Unit = "" }, "expected a group"},
		{func(d *Tool) { d.Figure += "(?P<unit>x)" }, "either unit or a group named unit"},
		{func(d *Tool) { d.Unit = "" }, "either unit or a group named unit"},
		{func(d *Tool) { d.Unit = "furlongs" }, "expected such as Mbit/s"},
		{func(d *Tool) { d.Figure = "" }, "there is none"},
		{func(d *Tool) { d.CountedBy = "switch" }, "expected sender or receiver"},
	} {
		d := good
		d.Client, d.Server = append([]string{}, good.Client...), append([]string{}, good.Server...)
		test.change(&d)
		got := Find("tool").Check(&Spec{Tool: d})
		if (got == "") != (test.wrong == "") || !strings.Contains(got, test.wrong) {
			t.Errorf("%+v: %q, want %q", d, got, test.wrong)
		}
	}
}

// TestToolJSON: a name is text, as in notebooks of before there were descriptions.
func TestToolJSON(t *testing.T) {
	for text, want := range map[string]Tool{
		`{"tool":"iperf3"}`: {Name: "iperf3"},
		`{}`:                {},
		`{"tool":{"client":["scp","$SECONDS"],"port":22}}`: {Client: []string{"scp", "$SECONDS"}, Port: 22},
	} {
		var s Spec
		if err := json.Unmarshal([]byte(text), &s); err != nil || !reflect.DeepEqual(s.Tool, want) {
			t.Errorf("%s: %+v, %v", text, s.Tool, err)
		}
		if again, err := json.Marshal(s); err != nil || string(again) != text {
			t.Errorf("%s, want %s (%v)", again, text, err)
		}
	}
	if name := (Tool{Client: []string{"/opt/bin/bench"}}).String(); name != "bench" {
		t.Errorf("called %q", name)
	}
}

// TestToolArgsStayWithTheirTool: a level that describes a program has none of the words of
// the workload's tool.
func TestToolArgsStayWithTheirTool(t *testing.T) {
	base := Spec{Tool: Tool{Name: "iperf3"}, ToolArgs: []string{"-O", "1"}}
	if got := base.With(Spec{Tool: Tool{Client: []string{"bench"}}}); got.ToolArgs != nil || !got.Tool.Described() {
		t.Errorf("%+v", got)
	}
	if got := base.With(Spec{}); !reflect.DeepEqual(got, base) {
		t.Errorf("%+v", got)
	}
}
