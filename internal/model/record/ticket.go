package record

import (
	"encoding/hex"
	"fmt"
)

// Ticket is what a flow's connection shows when it arrives at a service port
// that many flows share. It is drawn at random for each flow; the zero ticket is
// none.
type Ticket [16]byte

func (t Ticket) IsZero() bool { return t == Ticket{} }

func (t Ticket) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(t[:])), nil }

func (t *Ticket) UnmarshalText(text []byte) error {
	var read Ticket
	if n, err := hex.Decode(read[:], text[:min(len(text), 2*len(read))]); err != nil || n != len(read) || len(text) != 2*len(read) {
		return fmt.Errorf("ticket %.40q: expected %d hexadecimal digits", text, 2*len(read))
	}
	*t = read
	return nil
}
