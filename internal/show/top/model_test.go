package top

import (
	"strings"
	"testing"
	"time"
)

// press returns the model after keys.
func press(m Model, keys ...string) Model {
	for _, key := range keys {
		m, _ = m.Key(key)
	}
	return m
}

// shown is the number of the sample that is on the screen.
func shown(m Model) int {
	h := m.Hosts[m.Shown]
	return int(h.Samples[m.now(h)].Taken.Sub(began) / time.Second)
}

// TestHistory: steps are from sample to sample, and a paused screen stays where it is while
// samples come.
func TestHistory(t *testing.T) {
	var m Model
	for n := range 30 {
		m = m.Add(sample("nas", n))
	}
	for _, test := range []struct {
		keys []string
		want int
	}{
		{nil, 29}, {[]string{"left"}, 28}, {[]string{"left", "left", "right"}, 28}, {[]string{"pgup"}, 19},
		{[]string{"pgup", "pgdown", "pgdown"}, 29},
		{[]string{"home"}, 0}, {[]string{"home", "left"}, 0}, {[]string{"home", "end"}, 29}, {[]string{"space"}, 29},
		{[]string{"left", "space"}, 29},
	} {
		if got := shown(press(m, test.keys...)); got != test.want {
			t.Errorf("%v: sample %d, want %d", test.keys, got, test.want)
		}
	}
	paused := press(m, "left")
	live := press(paused, "space")
	for n := 30; n < 40; n++ {
		paused, live = paused.Add(sample("nas", n)), live.Add(sample("nas", n))
	}
	if got := shown(paused); got != 28 {
		t.Errorf("a paused screen went on to sample %d", got)
	}
	if got := shown(live); got != 39 {
		t.Errorf("a screen that is not paused is at sample %d", got)
	}
	for n := 40; n < 2*History; n++ {
		paused = paused.Add(sample("nas", n))
	}
	if h := paused.Hosts[0]; len(h.Samples) != History {
		t.Errorf("%d samples are kept", len(h.Samples))
	}
	if got := shown(paused); got != History { // the oldest that is left
		t.Errorf("after the history is full: sample %d", got)
	}
}

func TestKeys(t *testing.T) {
	m := loaded()
	if got := press(m, "n").Shown; got != 1 {
		t.Errorf("n: host %d", got)
	}
	if got := press(m, "p").Shown; got != 1 {
		t.Errorf("p: host %d", got)
	}
	if got := press(m, "n", "n").Shown; got != 0 {
		t.Errorf("n n: host %d", got)
	}
	if got := press(m, "5").View; got != Flows {
		t.Errorf("5: view %d", got)
	}
	if got := press(m, "shift+tab", "tab", "tab").View; got != Interfaces {
		t.Errorf("tabs: view %d", got)
	}
	if got := press(m, "s", "s").Order; got != ByLoss {
		t.Errorf("s s: order %d", got)
	}
	if help := press(m, "?"); !help.Help || press(help, "5").Help || press(help, "5").View != Overview {
		t.Error("? and another key: no help, or the key did more than leave it")
	}
	for _, key := range []string{"q", "ctrl+c"} {
		if _, quit := press(m, "?").Key(key); !quit {
			t.Errorf("%s does not quit", key)
		}
	}
	for _, key := range []string{"left", "space", "n", "home", "s"} { // without a host
		press(Model{}, key)
	}
}

// TestOrders: rows are in the order that is chosen, in each table.
func TestOrders(t *testing.T) {
	s := sample("nas", 0)
	for i := range s.Flows {
		s.Flows[i].RetransmitPerS, s.Flows[i].SegmentsPerS = float64(i), float64(i%2)
	}
	m := Model{View: Flows}.Add(s)
	for order, want := range map[int]string{ByRate: "192.0.2.12:43210", ByPackets: "[2001:db8::2]:50122",
		ByLoss: "198.51.100.7:60001", ByName: "192.0.2.12:43210"} {
		m.Order = order
		v := view{Model: m, width: 200, host: m.Hosts[0]}
		if line := v.flows().lines[0]; !strings.Contains(line, want) {
			t.Errorf("by %s the first line is %q, want %s", orderNames[order], line, want)
		}
	}
}
