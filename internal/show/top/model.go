// Package top is the screen of `linerate top`: samples of hosts as tables that fit a terminal, and
// the program that displays them. The content of the screen is a function of a Model and the size
// of the terminal. Only keys and samples change the Model.
package top

import (
	"slices"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/show/wording"
)

// History is the number of samples of each host that are kept.
const History = 600

// Views of the screen, selected by the keys 1 to 6.
const (
	Overview = iota
	Interfaces
	CPUs
	Queues
	Flows
	Findings
	views
)

var viewNames = [views]string{"overview", "interfaces", "CPUs", "queues", "flows", "findings"}

// Orders of rows, selected by the key s.
const (
	ByRate = iota
	ByPackets
	ByLoss
	ByName
	orders
)

var orderNames = [orders]string{"rate", "packets", "loss", "name"}

// OrderNames returns the accepted values of --sort, in the order of the constants.
func OrderNames() []string { return orderNames[:] }

// Model is the state that the screen shows.
type Model struct {
	Hosts []Host
	Shown int // index in Hosts
	View  int
	Order int
	// At is the time of the displayed sample. For another host the next earlier sample is
	// displayed. Zero: always the newest sample.
	At   time.Time
	Help bool
	// Color enables attributes of package text.
	Color bool
	Zone  *time.Location // of times; nil: UTC
	// Ended is why no further samples will arrive. Empty: they will.
	Ended string
}

// Host has the samples of a host.
type Host struct {
	Name    string
	Samples []record.HostSample // oldest first, at most History of them
	Lost    string              // why there are no further samples of this host; empty: there will be
}

// Add returns the model with another sample, of a host that may be new.
func (m Model) Add(s record.HostSample) Model {
	m = m.known(s.Host)
	h := &m.Hosts[m.index(s.Host)]
	h.Lost = ""
	h.Samples = append(h.Samples, wording.Sample(s))
	h.Samples = h.Samples[max(0, len(h.Samples)-History):]
	return m
}

// Lose returns the model with the reason why a host gives no samples.
func (m Model) Lose(host, why string) Model {
	m = m.known(host)
	m.Hosts[m.index(host)].Lost = why
	return m
}

func (m Model) index(host string) int {
	return slices.IndexFunc(m.Hosts, func(h Host) bool { return h.Name == host })
}

// known returns the model with a host of that name, and with a copy of the list of hosts.
func (m Model) known(host string) Model {
	m.Hosts = slices.Clone(m.Hosts)
	if m.index(host) < 0 {
		m.Hosts = append(m.Hosts, Host{Name: host})
	}
	return m
}

// now returns the index of the displayed sample of a host. -1: there is none.
func (m Model) now(h Host) int {
	i := len(h.Samples) - 1
	for !m.At.IsZero() && i > 0 && h.Samples[i].Taken.After(m.At) {
		i--
	}
	return i
}

// Key returns the model after a key, given by its name in bubbletea. Quit reports whether the key
// ends the program.
func (m Model) Key(key string) (after Model, quit bool) {
	if m.Help && key != "q" && key != "ctrl+c" {
		m.Help = false
		return m, false
	}
	switch key {
	case "q", "ctrl+c":
		return m, true
	case "?", "h":
		m.Help = true
	case "1", "2", "3", "4", "5", "6":
		m.View = int(key[0] - '1')
	case "tab":
		m.View = (m.View + 1) % views
	case "shift+tab":
		m.View = (m.View + views - 1) % views
	case "esc":
		m.View = Overview
	case "s":
		m.Order = (m.Order + 1) % orders
	case "n", "down":
		m.Shown = (m.Shown + 1) % max(1, len(m.Hosts))
	case "p", "up":
		m.Shown = (m.Shown + max(1, len(m.Hosts)) - 1) % max(1, len(m.Hosts))
	case "space", " ":
		if m.At.IsZero() {
			m = m.step(0)
		} else {
			m.At = time.Time{}
		}
	case "left":
		m = m.step(-1)
	case "right":
		m = m.step(1)
	case "pgup":
		m = m.step(-10)
	case "pgdown":
		m = m.step(10)
	case "home":
		m = m.step(-History)
	case "end":
		m.At = time.Time{}
	}
	return m, false
}

// step pauses at the sample n after the displayed one.
func (m Model) step(n int) Model {
	if len(m.Hosts) == 0 {
		return m
	}
	h := m.Hosts[m.Shown]
	if i := m.now(h); i >= 0 {
		m.At = h.Samples[max(0, min(i+n, len(h.Samples)-1))].Taken
	}
	return m
}
