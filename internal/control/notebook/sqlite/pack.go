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

// mostUnpacked bounds what a document of so many bytes unpacks to: what pack compresses shrinks to a seventh, zeros to
// a thousandth.
func mostUnpacked(packed int) int64 { return 1<<20 + 200*int64(packed) }

// unpack reads what pack wrote, or what another program did: the document's size and strings are checked.
func unpack(packed []byte, value any) error {
	var text bytes.Buffer
	most := mostUnpacked(len(packed))
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		text.Grow(8 * len(packed))
		_, err = text.ReadFrom(io.LimitReader(z, most+1)) // to the end, where the checksum is
	}
	if err == nil && int64(text.Len()) > most {
		err = fmt.Errorf("%d bytes unpack to more than %d", len(packed), most)
	}
	if err == nil {
		err = syntax.Sparse(text.Bytes())
	}
	if err == nil {
		err = json.Unmarshal(text.Bytes(), value)
	}
	if err == nil {
		err = syntax.Check(value)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", notebook.ErrDamaged, err)
	}
	return nil
}
