package topology

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/source"
)

// Link joins two interfaces. From and To only define which direction is which.
type Link struct {
	From End `yaml:"from,required" json:"from" doc:"host.interface, or a switch (its port is named after the other end)"`
	To   End `yaml:"to,required" json:"to" doc:"host.interface, or a switch"`
	// Impairment applies to both directions, except for what Forward or Reverse sets.
	Impairment `yaml:",inline"`
	Forward    *Direction `yaml:"forward" json:"forward,omitempty" doc:"what differs in the direction from → to; a zero replaces the value of the link"`
	Reverse    *Direction `yaml:"reverse" json:"reverse,omitempty" doc:"what differs in the direction to → from; a zero replaces the value of the link"`
}

// Direction is what one direction of a link has instead of the link's values.
type Direction struct {
	Impairment `yaml:",inline"`
	// Zeros has the properties that are zero here, whatever they are on the link.
	Zeros source.Zeros `yaml:"-" json:"zeros,omitempty"`
}

// Towards returns the impairment of the direction that leaves the given end.
func (l Link) Towards(from End) Impairment {
	i := l.towards(from)
	i.MTU = cmp.Or(i.MTU, DefaultMTU)
	return i
}

// towards is like Towards, but the MTU is 0 if the file has none.
func (l Link) towards(from End) Impairment {
	over := l.Forward
	if from == l.To {
		over = l.Reverse
	}
	if over == nil {
		return l.Impairment
	}
	return l.Impairment.with(*over)
}

// Lossy reports whether frames are lost in one of the directions.
func (l Link) Lossy() bool { return l.Towards(l.From).Loss > 0 || l.Towards(l.To).Loss > 0 }

// Other returns the end opposite to e.
func (l Link) Other(e End) End {
	if e == l.From {
		return l.To
	}
	return l.From
}

// End is one end of a link: a host's interface, or a switch's port. In a file it is
// written "host.interface" or just "switch"; Complete names the switch's port after
// the far end. In JSON it is written "host.interface" too.
type End struct {
	Node      string
	Interface string
}

func (e End) String() string {
	if e.Interface == "" {
		return e.Node
	}
	return e.Node + "." + e.Interface
}

// MarshalText implements encoding.TextMarshaler.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText parses host.interface or switch. The name of an interface may contain dots
// (eth0.100), that of a host may not.
func (e *End) UnmarshalText(text []byte) error {
	node, iface, dot := strings.Cut(strings.TrimSpace(string(text)), ".")
	if node == "" || dot && iface == "" {
		return fmt.Errorf("%q is not the end of a link: expected host.interface or the name of a switch", text)
	}
	*e = End{node, iface}
	return nil
}

// JSONSchema returns the schema of the spelling, for editors.
func (End) JSONSchema() map[string]any {
	return map[string]any{
		"type":     "string",
		"examples": []string{"server.eth0", "client{1..2}.eth0", "switch"},
	}
}
