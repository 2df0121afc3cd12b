package study

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Event is a change during the window of a trial. Either a setting is applied on a host, and reverted
// after the trial like any other, or the routing daemon of the host is killed, and restarted after
// the trial.
type Event struct {
	At              unit.Duration `yaml:"at,required" json:"at" doc:"when it happens, counted from the window's beginning"`
	Stop            string        `yaml:"stop" json:"stop,omitempty" doc:"instead of a setting: bgp kills the host's routing daemon" enum:"bgp"`
	setting.Setting `yaml:",inline"`
}

// What describes the event: "link eth0 state down".
func (e Event) What() string {
	if e.Stop != "" {
		return "the " + strings.ToUpper(e.Stop) + " daemon is killed"
	}
	lines := e.Lines()
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, e.Host+": ")
	}
	return strings.Join(lines, ", ")
}

// String returns a line for display: "1s: server: link eth0 state down".
func (e Event) String() string { return e.At.String() + ": " + e.Host + ": " + e.What() }

// events checks the events of a workload, or those with which a level replaces them.
func (c *checker) events(path string, over *topology.Topology, events []Event) {
	for i, e := range events {
		path := fmt.Sprintf("%s.events[%d]", path, i)
		switch kinds := e.Kinds(); {
		case e.Stop == "" && len(kinds) == 0:
			c.report(path, "nothing happens: expected stop, or one of %s", source.Or(setting.Kinds))
		case e.Stop == "":
			over.CheckSetting(e.Setting, path, c.report)
		case len(kinds) > 0:
			c.report(path, "an event is either stop or a setting; found stop and %s", strings.Join(kinds, " and "))
		default:
			h, ok := over.FindHost(e.Host, path+".host", c.report)
			switch {
			case ok && h.BGP == nil:
				c.report(path+".stop", "host %q has no bgp", h.Name)
			case ok && slices.ContainsFunc(events[:i], func(other Event) bool {
				return other.Stop == e.Stop && other.Host == e.Host
			}):
				c.report(path+".stop", "the daemon of host %q is stopped twice", h.Name)
			}
		}
	}
}

// eventsInTime returns an error for an event after the end of the treatment's window.
func (t *Treatment) eventsInTime() error {
	for _, e := range t.Workload.Events {
		if e.At >= t.Workload.Duration {
			return fmt.Errorf("treatment %q: an event at %s, but the window is over after %s", t.Name, e.At,
				t.Workload.Duration)
		}
	}
	return nil
}
