package trust

import (
	"encoding/json"
	"strings"

	"linerate/internal/model/record"
)

// rests reports whether the facts of a check, in JSON, contain a text.
func rests(c record.Check, on string) bool {
	text, err := json.Marshal(c.Facts)
	return err == nil && len(c.Facts) > 0 && strings.Contains(string(text), on)
}
