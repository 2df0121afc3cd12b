package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"linerate/internal/model/message"
)

// membershipFD is the descriptor by which a lab's init process hands a membership to an agent,
// and mostMembership its size in bytes.
const (
	membershipFD   = 3
	mostMembership = 4096
)

// ReadMembership reads what the init process of a lab says about this host, from an inherited
// descriptor, and closes it.
func ReadMembership() (m message.Membership, err error) {
	f := os.NewFile(membershipFD, "membership of a lab")
	if f == nil {
		return m, fmt.Errorf("descriptor %d: %w", membershipFD, os.ErrInvalid)
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, mostMembership)).Decode(&m); err != nil {
		return m, fmt.Errorf("reading the membership of a lab from descriptor %d: %w", membershipFD, err)
	}
	if m.OneCPU { // programs that the host starts are to use all
		return m, os.Unsetenv(message.CPUsVariable)
	}
	return m, nil
}
