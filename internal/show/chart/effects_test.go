package chart

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/answer"
	"linerate/internal/show/figure"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

// TestAblated: of a list that is taken apart the answer names what did it, and that
// one setting would not do; the parts are compared with each other in a table and a
// figure, and are no treatments to choose from.
func TestAblated(t *testing.T) {
	run := showtest.Ablated()
	a := answer.Run(run)
	text := strings.Join(slices.Concat([]string{a.Headline}, a.Statements, a.Caveats), " ")
	for _, want := range []string{
		"Long: the list improves goodput (2.372×, 2.366–2.378); net.ipv4.tcp_rmem and net.ipv4.tcp_wmem help.",
		"Alone none of them gives more than 1.503×",
		"Short: the list makes no difference to goodput beyond ±3 %",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the answer lacks %q: %s", want, text)
		}
	}
	for _, f := range Figures(view.New(run)) {
		var b bytes.Buffer
		if err := f.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		drawn := b.String()
		switch f.Name {
		case "goodput":
			if strings.Contains(drawn, "only net") || !strings.Contains(drawn, "off again") ||
				!strings.Contains(fmt.Sprint(f.Data), "only net") {
				t.Error("the figure of treatments has parts of one, or not the treatments, or its data lack them")
			}
		case "effects":
			if want := "Short: 8 make no difference; long: 2 improve goodput, 2 worsen it and 4 make no difference"; f.Title != want {
				t.Errorf("title %q, want %q", f.Title, want)
			}
			for _, want := range []string{"against as it is", "against the list", "only net.ipv4.tcp_rmem",
				"without net.ipv4.tcp_wmem", "2.372×", "worsens", "1×"} {
				if !strings.Contains(drawn, want) {
					t.Errorf("the figure of effects lacks %q", want)
				}
			}
		}
	}
}

func TestRatioTicks(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{0.93, 1.08, 8, []float64{0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.08}},
		{0.88, 1.34, 8, []float64{0.9, 1, 1.1, 1.2, 1.3}},
		{0.25, 3.5, 6, []float64{0.5, 1, 2}},
		{0.25, 3.5, 8, []float64{0.3, 0.5, 0.7, 1, 1.5, 2, 3}},
		{0.001, 200, 8, []float64{0.001, 0.01, 0.1, 1, 10, 100}},
		{0.9, 42, 3, []float64{1, 10}},
	} {
		got := ratioTicks(test.low, test.high, test.n)
		if len(got) > test.n || !slices.EqualFunc(got, test.want, func(a, b float64) bool {
			return math.Abs(a-b) < 1e-9
		}) {
			t.Errorf("%g to %g, %d at most: %v, want %v", test.low, test.high, test.n, got, test.want)
		}
	}
}

// TestPredictedFigure: what came true and what did not is counted, shown by marks and
// named.
func TestPredictedFigure(t *testing.T) {
	drawnOf := func(run *record.Run) (figure.Figure, string) {
		for _, f := range Figures(view.New(run)) {
			if f.Name == "predicted" {
				var b bytes.Buffer
				if err := f.WriteSVG(&b); err != nil {
					t.Fatal(err)
				}
				return f, b.String()
			}
		}
		t.Fatal("nothing is drawn")
		return figure.Figure{}, ""
	}
	f, drawn := drawnOf(showtest.Predicted(func(*record.Flow) {}))
	if !strings.HasPrefix(f.Title, "All ") || !strings.Contains(drawn, "receiver window: ") ||
		strings.Contains(drawn, "hollow") {
		t.Errorf("all came true: %q\n%s", f.Title, drawn)
	}
	f, drawn = drawnOf(showtest.Predicted(func(f *record.Flow) { f.GoodputBps /= 2 }))
	if !strings.HasPrefix(f.Title, "0 of ") || !strings.Contains(drawn, "hollow") {
		t.Errorf("nothing came true: %q", f.Title)
	}
	// A logarithm has no place for a flow that got nothing.
	starved := showtest.Predicted(func(*record.Flow) {})
	starved.Trials[0].Flows[0].GoodputBps = 0
	if f, drawn = drawnOf(starved); strings.HasPrefix(f.Title, "All ") || strings.Contains(drawn, "NaN") ||
		strings.Contains(drawn, "Inf") {
		t.Errorf("a flow that got nothing: %q\n%s", f.Title, drawn)
	}
}

func TestLogTicks(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      []float64
	}{
		{0.9e6, 11e6, []float64{1e6, 2e6, 5e6, 1e7}},
		{0, 1e9, nil},
		{1e6, math.Inf(1), nil},
		{math.NaN(), 1, nil},
	} {
		if got := logTicks(test.low, test.high, 4, rateLadders...); !slices.EqualFunc(got, test.want,
			func(a, b float64) bool { return math.Abs(a/b-1) < 1e-9 }) {
			t.Errorf("%g to %g: %v, want %v", test.low, test.high, got, test.want)
		}
	}
}
