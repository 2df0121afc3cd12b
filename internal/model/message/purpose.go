package message

// Purpose says what an agent is started for: the option --for of linerate agent.
type Purpose string

const (
	// ForChange permits everything, including settings. The agent does not start while a journal that
	// a killed agent left has changes to revert, and it reverts its own changes when its stream
	// ends.
	ForChange Purpose = ""
	// ForMeasure permits traffic and counters, ForRead snapshots and samples. For both, the agent opens
	// no journal and takes no lock.
	ForMeasure Purpose = "measure"
	ForRead    Purpose = "read"
)

// Access returns the requests that a purpose permits, besides the host's own. An unknown purpose permits
// no more than ForRead.
func (p Purpose) Access() Access {
	switch p {
	case ForChange:
		return Own | Change | Client
	case ForMeasure:
		return Own | Client
	}
	return Own
}
