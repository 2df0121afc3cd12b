package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
)

// readSnapshot reads a file that linerate snapshot has written; "-": in.
func readSnapshot(in io.Reader, file string) (snapshot netstate.HostSnapshot, err error) {
	text, err := readBounded(in, file, largestSnapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return snapshot, fmt.Errorf("%w: expected a file of linerate snapshot", err)
	}
	if err != nil {
		return snapshot, err
	}
	defer computing()()
	if snapshot, err = netstate.ParseHostSnapshot(text); err != nil {
		return snapshot, cmp.Or(notSnapshot(file, text), fmt.Errorf("%s: %w", file, err))
	}
	return snapshot, nil
}

// notSnapshot returns an error that names the verb or flag for a file of another kind; nil: the
// kind is unknown, or it is a snapshot with mistakes.
func notSnapshot(file string, text []byte) error {
	var head struct{ Schema string }
	if json.Unmarshal(text, &head) == nil && head.Schema == netstate.HostSnapshotSchema {
		return nil
	}
	if err := wrongKind("doctor", file, text); err != nil {
		return err
	}
	if len(text) <= pasted.LargestText {
		if _, err := pasted.Parse(string(text)); err == nil {
			return fmt.Errorf("%s is the output of another tool, not a snapshot: linerate doctor %s", file,
				quote(file))
		}
	}
	return nil
}

// readBounded reads at most most+1 bytes of a file, or of in if file is "-".
func readBounded(in io.Reader, file string, most int64) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return text, nil
}

// largestSnapshot is the largest size of a snapshot document.
const largestSnapshot = netstate.LargestHostSnapshot

// named gives hosts of the same name different ones, as network namespaces of one host have the
// same.
func named(list []netstate.HostSnapshot) []netstate.HostSnapshot {
	seen := map[string]int{}
	for i := range list {
		name := cmp.Or(list[i].Reading.Host, "host")
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s#%d", name, n)
		}
		list[i].Reading.Host, list[i].Reading.Snapshot.Host = name, name
	}
	return list
}
