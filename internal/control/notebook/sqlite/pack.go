package sqlite

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"linerate/internal/control/notebook"
	"linerate/internal/model/syntax"
)

// pack returns value as gzip-compressed JSON. A trial is mostly counters read twice and shrinks to a seventh
// (133 KB to 19 KB in the study arp-flux); gzip's checksum detects damaged records.
func pack(value any) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(json.NewEncoder(z).Encode(value), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack reads what pack wrote, or what another program did: the document's strings are checked.
func unpack(packed []byte, value any) error {
	var text []byte
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		text, err = io.ReadAll(z) // to the end, where the checksum is
	}
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err == nil {
		err = syntax.Check(value)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", notebook.ErrDamaged, err)
	}
	return nil
}
