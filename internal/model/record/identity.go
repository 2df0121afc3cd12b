package record

import (
	"encoding/json"
	"errors"
	"io"
	"time"
)

// Identity tells a run from others, also of other notebooks.
type Identity struct {
	ID      string
	Started time.Time
}

// ReadIdentity reads the identity of a run from the beginning of its document. It stops behind what it needs.
func ReadIdentity(r io.Reader) (of Identity, err error) {
	in := json.NewDecoder(r)
	if begin, err := in.Token(); err != nil || begin != json.Delim('{') {
		return of, errors.Join(errors.New("expected a JSON object"), err)
	}
	for of.ID == "" || of.Started.IsZero() {
		key, err := in.Token()
		switch {
		case err != nil:
			return of, err
		case key == "id":
			err = in.Decode(&of.ID)
		case key == "started":
			err = in.Decode(&of.Started)
		case key == json.Delim('}'):
			return of, errors.New("the document has no id, or no time of its start")
		default:
			var other json.RawMessage
			err = in.Decode(&other)
		}
		if err != nil {
			return of, err
		}
	}
	return of, nil
}
