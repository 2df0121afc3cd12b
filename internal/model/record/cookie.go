package record

import (
	"encoding/hex"
	"fmt"
)

// Cookie is what a flow's connection shows when it arrives at a port
// that many flows share. It is drawn at random for each flow; the zero ticket is
// none.
type Cookie [16]byte

func (t Cookie) IsZero() bool { return t == Cookie{} }

func (t Cookie) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(t[:])), nil }

func (t *Cookie) UnmarshalText(text []byte) error {
	var read Cookie
	if n, err := hex.Decode(read[:], text[:min(len(text), 2*len(read))]); err != nil || n != len(read) || len(text) != 2*len(read) {
		return fmt.Errorf("ticket %.40q: expected %d hexadecimal digits", text, 2*len(read))
	}
	*t = read
	return nil
}
