package hoststate

import (
	"errors"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/netstate"
)

// Texts are the readers of texts that others than the kernel write, of the machine's first network namespace
// alone. Package texts registers them. The agent of a lab's host is started without them, and without the readers
// of formats that they need: a lab has many.
type Texts struct {
	// Files returns the lines of the files with kernel parameters, in the order in which they are applied.
	Files func() ([]netstate.ParameterLine, error)
	// LLDP parses what lldpcli prints.
	LLDP func(text []byte) ([]netstate.LLDPNeighbour, error)
}

var texts Texts

// Register sets the readers. It is called before main.
func Register(t Texts) { texts = t }

var errNoTexts = errors.New("this program has no reader of such texts")

// parameterFiles returns the lines of the files with kernel parameters. They are applied to the first network
// namespace: another one has none.
func parameterFiles() ([]netstate.ParameterLine, error) {
	if first, err := netlink.First(); err == nil && !first {
		return nil, nil
	}
	if texts.Files == nil {
		return nil, errNoTexts
	}
	return texts.Files()
}
