package message

import (
	"encoding/hex"
	"fmt"
)

// Cookie identifies a flow to a listener that many flows share. Each connection begins by sending
// it. It is random for each flow; the zero cookie is never valid.
type Cookie [16]byte

func (c Cookie) IsZero() bool { return c == Cookie{} }

func (c Cookie) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(c[:])), nil }

func (c *Cookie) UnmarshalText(text []byte) error {
	var read Cookie
	if n, err := hex.Decode(read[:], text[:min(len(text), 2*len(read))]); err != nil || n != len(read) ||
		len(text) != 2*len(read) {
		return fmt.Errorf("cookie %.40q: expected %d hexadecimal digits", text, 2*len(read))
	}
	*c = read
	return nil
}
