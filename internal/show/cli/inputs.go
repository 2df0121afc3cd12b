package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"linerate/internal/control/archive"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

// inputs are the files that doctor looks at.
type inputs struct {
	snapshots []netstate.HostSnapshot
	// text is what was read of texts and archives, without their machines, which are among snapshots.
	text pasted.Text
	// sources says what each file was taken for.
	sources []record.Source
}

// readInputs reads snapshots, what other tools print, and support archives. Each file tells by its
// content what it is; if pasted is true, all of them are texts. "-" is standard input. Texts are read
// together: several of them may be of one machine.
func readInputs(ctx context.Context, s streams, files []string, pastedOnly bool) (in inputs, err error) {
	var texts strings.Builder
	for _, file := range files {
		a, err := readArchive(ctx, file, pastedOnly)
		if err != nil {
			return in, err
		}
		if a != nil {
			in.add(pasted.ParseMembers(a.Members))
			kind := "archive, " + words.Count(a.Known, "member") + " of known format, " +
				fmt.Sprint(a.Others) + " of others"
			in.sources = append(in.sources, record.Source{File: file, Kind: kind, Partly: a.Partly})
			continue
		}
		if file == "-" && s.asks() {
			say(s.err, "Paste, and end with Ctrl-D:\n")
		}
		text, err := readBounded(s.input(ctx), file, max(pasted.LargestText, largestSnapshot))
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; to diagnose a host of that name: linerate doctor --host %s", err, quote(file))
		}
		if err != nil {
			return in, err
		}
		if !pastedOnly && isJSONObject(text) {
			snapshot, err := netstate.ParseHostSnapshot(text)
			if err == nil {
				in.snapshots = append(in.snapshots, snapshot)
				in.sources = append(in.sources, record.Source{File: file, Kind: "snapshot"})
				continue
			}
			if hasSchema(text) {
				return in, orWrongKind(file, text, err)
			}
		}
		if err := wrongKind("doctor", file, text); err != nil && !pastedOnly {
			if _, parsed := pasted.Parse(string(text)); parsed != nil {
				return in, err
			}
		}
		if len(text) > pasted.LargestText {
			return in, fmt.Errorf("%s: expected at most %d bytes of text", file, pasted.LargestText)
		}
		texts.Write(text)
		texts.WriteString("\n\n")
		in.sources = append(in.sources, record.Source{File: file, Kind: "text"})
	}
	if texts.Len() == 0 {
		return in, nil
	}
	text, err := pasted.Parse(texts.String())
	in.add(text)
	if len(in.snapshots) > 0 {
		err = nil // another file has what can be judged
	}
	return in, err
}

// add adds what was read of texts.
func (in *inputs) add(t pasted.Text) {
	in.snapshots = append(in.snapshots, t.Machines...)
	in.text.Lines, in.text.Idle, in.text.Lost = in.text.Lines+t.Lines, in.text.Idle+t.Idle, in.text.Lost+t.Lost
	in.text.NotUnderstood = append(in.text.NotUnderstood, t.NotUnderstood...)
	in.text.Formats = append(in.text.Formats, t.Formats...)
}

// readArchive reads a directory or an archive. Nil: the file is neither.
func readArchive(ctx context.Context, file string, pastedOnly bool) (*archive.Archive, error) {
	if file == "-" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil // the reader of texts says it
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var a *archive.Archive
	head := make([]byte, 262)
	switch n, _ := f.ReadAt(head, 0); {
	case info.IsDir():
		a, err = archive.Directory(ctx, file)
	case info.Mode().IsRegular() && archive.Is(head[:n]):
		a, err = archive.File(ctx, f)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: expected what sos report or supportconfig collect: %w", file, err)
	}
	return a, nil
}

func isJSONObject(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// hasSchema reports whether a text is a document of linerate.
func hasSchema(text []byte) bool {
	var head struct{ Schema string }
	return json.Unmarshal(text, &head) == nil && strings.HasPrefix(head.Schema, "linerate.")
}

// orWrongKind returns the error that names the verb for a document of another kind, and otherwise err.
func orWrongKind(file string, text []byte, err error) error {
	if wrong := notSnapshot(file, text); wrong != nil {
		return wrong
	}
	return fmt.Errorf("%s: %w", file, err)
}
