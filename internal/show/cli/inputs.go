package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/control/archive"
	"linerate/internal/model/lists"
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

// readInputs reads snapshots, what other tools print, support archives, and directories of these. Each
// tells by its content what it is. "-" is standard input. Texts are read together: several of them may be
// of one machine. OverS is the time between two readings of a host in seconds, where the files do not say
// it; 0: unknown.
func readInputs(ctx context.Context, s streams, files []string, overS float64) (in inputs, err error) {
	defer computing()()
	var texts strings.Builder
	for _, file := range files {
		text, err := in.readFile(ctx, s, file)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; to diagnose a host of that name: linerate doctor --host %s", err, quote(file))
		}
		if err != nil {
			return in, err
		}
		texts.WriteString(text)
		if text != "" && len(files) > 1 {
			if _, err := pasted.Parse(text); err != nil { // the others may be enough for an answer
				in.sources[len(in.sources)-1].Kind = "text, of which nothing could be read"
			}
		}
	}
	if texts.Len() > 0 {
		var text pasted.Text
		text, err = pasted.ParseOver(texts.String(), overS)
		in.add(text)
		if len(in.snapshots) > 0 {
			err = nil // another file has what can be judged
		}
	}
	in.snapshots = joined(in.snapshots, overS)
	return in, err
}

// joined makes of several snapshots of one host the latest, with what grew since the first one.
func joined(list []netstate.HostSnapshot, overS float64) (hosts []netstate.HostSnapshot) {
	var groups [][]netstate.HostSnapshot
	for _, s := range list {
		i := slices.IndexFunc(groups, func(g []netstate.HostSnapshot) bool { return sameHost(g[0], s) })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], s)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b netstate.HostSnapshot) int { return a.Taken.Compare(b.Taken) })
		first, last := g[0], &g[len(g)-1]
		seconds := last.Taken.Sub(first.Taken).Seconds()
		if first.Taken.IsZero() || seconds <= 0 {
			seconds = overS * float64(len(g)-1)
		}
		if len(g) > 1 && last.Since(first, seconds) {
			g = g[len(g)-1:]
		}
		hosts = append(hosts, g...)
	}
	return hosts
}

// sameHost reports whether two snapshots are of the same host: an interface has the same name and address.
// Network namespaces of a host have its name too.
func sameHost(a, b netstate.HostSnapshot) bool {
	macs := map[string]string{}
	for _, i := range a.Reading.Snapshot.Interfaces {
		macs[i.Interface] = i.MAC
	}
	return a.Reading.Host == b.Reading.Host &&
		slices.ContainsFunc(b.Reading.Snapshot.Interfaces, func(i netstate.InterfaceSnapshot) bool {
			return i.MAC != "" && macs[i.Interface] == i.MAC
		})
}

// add adds what was read of texts.
func (in *inputs) add(t pasted.Text) {
	in.snapshots = append(in.snapshots, t.Machines...)
	t.Machines = nil
	in.text.Add(t)
}

// readFile reads a file or a directory. It returns what is to be read as a text with those of other files.
func (in *inputs) readFile(ctx context.Context, s streams, file string) (text string, err error) {
	if file == "-" {
		if s.asks() {
			say(s.hints(), "Paste, and end with Ctrl-D:\n")
		}
		return in.readStream(ctx, file, s.input(ctx))
	}
	f, err := openFile(ctx, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		a, err := archive.Directory(ctx, file)
		return "", in.keep(file, "directory", a, err)
	}
	head := make([]byte, headSize)
	if n, _ := f.ReadAt(head, 0); archive.Is(head[:n]) {
		a, err := archive.Read(ctx, f, file)
		return "", in.keep(file, "archive", a, err)
	}
	return in.readStream(ctx, file, untilDone{ctx, f})
}

// headSize is how many bytes of a file tell whether it is an archive.
const headSize = 262

// openFile opens a file. A FIFO is waited for until the context ends.
func openFile(ctx context.Context, file string) (*os.File, error) {
	type result struct {
		*os.File
		err error
	}
	opened := make(chan result, 1)
	go func() { // without a writer of a FIFO it ends with the process
		f, err := os.Open(file)
		opened <- result{f, err}
	}()
	select {
	case r := <-opened:
		return r.File, r.err
	case <-ctx.Done():
		return nil, statusError{ExitInterrupted, errors.New("interrupted")}
	}
}

// readStream reads an archive, a snapshot or a text.
func (in *inputs) readStream(ctx context.Context, file string, from io.Reader) (string, error) {
	buffered := bufio.NewReaderSize(from, 1<<16)
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if archive.Is(head) {
		a, err := archive.Read(ctx, buffered, file)
		return "", in.keep(file, "archive", a, err)
	}
	text, err := readBounded(buffered, "-", max(pasted.LargestText, largestSnapshot))
	if err != nil {
		return "", err
	}
	defer computing()()
	text = []byte(pasted.Decoded(text))
	if isJSONObject(text) {
		snapshot, err := netstate.ParseHostSnapshot(text)
		if err == nil {
			in.snapshots = append(in.snapshots, snapshot)
			in.sources = append(in.sources, record.Source{File: file, Kind: "snapshot of " + snapshot.Reading.Host})
			return "", nil
		}
		if _, parsed := pasted.Parse(string(text)); hasSchema(text) || parsed != nil && !json.Valid(text) {
			return "", orWrongKind(file, text, err)
		}
	}
	if err := wrongKind("doctor", file, text); err != nil {
		if p, parsed := pasted.Parse(string(text)); parsed != nil || len(p.Formats) < 2 && isSettings(text) {
			return "", err
		}
	}
	if len(text) > pasted.LargestText {
		return "", fmt.Errorf("%s: expected at most %d bytes of text", file, pasted.LargestText)
	}
	in.sources = append(in.sources, record.Source{File: file, Kind: "text"})
	if base := filepath.Base(file); pasted.KnownMember(base) { // it is named after a command
		return "==> " + base + " <==\n" + string(text) + "\n\n", nil
	}
	return string(text) + "\n\n", nil
}

// keep keeps what was read of a directory or an archive.
func (in *inputs) keep(file, kind string, a *archive.Archive, err error) error {
	if err != nil {
		return fmt.Errorf("%s: expected snapshots, outputs of tools, or what sos report or supportconfig collect: %w",
			file, err)
	}
	defer computing()()
	before := len(in.snapshots)
	for _, name := range slices.Sorted(maps.Keys(a.Snapshots)) {
		snapshot, err := netstate.ParseHostSnapshot(a.Snapshots[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in.snapshots = append(in.snapshots, snapshot)
	}
	in.add(pasted.ParseMembers(a.Members, file))
	of := lists.Map(in.snapshots[before:], func(s netstate.HostSnapshot) string { return s.Reading.Host })
	if n := len(a.Snapshots); n > 0 {
		kind += " with " + words.Count(n, "snapshot")
	}
	kind = fmt.Sprintf("%s of %s, %s of known format, %d of others", kind, words.List(of),
		words.Count(a.Known, "member"), a.Others)
	in.sources = append(in.sources, record.Source{File: file, Kind: kind, Partly: a.Partly})
	return nil
}

// isSettings reports whether a text that may be a list of settings is none that sysctl(8) printed: it has
// comments, and settings only.
func isSettings(text []byte) bool {
	comments := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == '#' || line[0] == ';':
			comments = true
		case !settingsLine.Regexp().Match(line):
			return false
		}
	}
	return comments
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
