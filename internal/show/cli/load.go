package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/studies"
)

// loadTopology reads the topology of a study, or of a file that has only a topology.
func loadTopology(in io.Reader, nameOrFile string) (*topology.Topology, error) {
	file, data, err := readStudy(in, nameOrFile)
	if err != nil {
		return nil, usageError(err)
	}
	defer computing()()
	t, err := study.ParseTopology(file, data)
	if err != nil {
		return nil, inputError(file, err)
	}
	locate(t, nameOrFile)
	return t, nil
}

// locate makes the paths in a study absolute, because a run may be resumed in another directory.
func locate(t *topology.Topology, studyFile string) {
	if dir, err := filepath.Abs(filepath.Dir(studyFile)); err == nil {
		t.Locate(dir)
	}
}

// inputError returns an error that says how many mistakes a file has and then lists them, each on
// its own line in a form that an editor can jump to.
func inputError(file string, err error) error {
	problems, ok := errors.AsType[source.Problems](err)
	switch {
	case !ok, !slices.ContainsFunc(problems, func(p source.Problem) bool { return p.Option == "" }): // in flags
		return usageError(err)
	case len(problems) == 1:
		return usageError(fmt.Errorf("%s has a mistake; nothing has been created\n%w", file, err))
	}
	return usageError(fmt.Errorf("%s has %d mistakes; nothing has been created\n%w", file, len(problems), err))
}

// readStudy returns the text of a built-in study or of a file ("-": in), and its name for messages.
func readStudy(in io.Reader, nameOrFile string) (string, []byte, error) {
	data, builtin, err := readNamed(in, "study", "studies", nameOrFile, studies.Names(),
		func(name string) ([]byte, error) {
			return studies.Files.ReadFile(name + ".yaml")
		})
	if builtin {
		return nameOrFile + ".yaml", data, nil
	}
	if err == nil {
		err = wrongKind("run", nameOrFile, data)
	}
	return nameOrFile, data, err
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	_, errPort := netip.ParseAddrPort(text)
	return err == nil || errPort == nil
}

// readNamed reads a built-in text by its name, or else a file by its path; "-" is in.
func readNamed(in io.Reader, kind, kinds, nameOrFile string, names []string, read func(string) ([]byte, error)) (
	data []byte, builtin bool, err error) {
	if isStudyName(nameOrFile) {
		if data, err := read(nameOrFile); err == nil {
			return data, true, nil
		}
	}
	if nameOrFile == "-" {
		data, err = readText(in, nameOrFile)
		return data, false, err
	}
	data, err = readFile(nameOrFile)
	switch beside := besideName(nameOrFile, kind); {
	case !errors.Is(err, fs.ErrNotExist):
	case isAddress(nameOrFile):
		err = fmt.Errorf("no %s and no file is called %q; to measure to an address: linerate measure %[2]s", kind,
			nameOrFile)
	case beside != "":
		err = fmt.Errorf("no %s and no file is called %q; did you mean %s?", kind, nameOrFile, beside)
	case isRun(nameOrFile):
		err = fmt.Errorf("%s is a run, not a %s: linerate report %[1]s shows it", quote(nameOrFile), kind)
	case isStudyName(nameOrFile):
		err = fmt.Errorf("no %s and no file is called %q%s", kind, nameOrFile, source.DidYouMean(nameOrFile, names))
	default:
		err = fmt.Errorf("no file %q (built-in %s: %s)", nameOrFile, kinds, strings.Join(names, ", "))
	}
	return data, false, err
}

// besideName returns the file that a name without its ending stands for. Empty: there is none.
func besideName(name, kind string) string {
	endings := []string{".yaml", ".yml"}
	if kind == "list" {
		endings = []string{".conf"}
	}
	if stem, is := strings.CutSuffix(name, ".yml"); is {
		name, endings = stem, endings[:1]
	} else if stem, is := strings.CutSuffix(name, ".yaml"); is {
		name, endings = stem, endings[1:]
	}
	for _, ending := range endings {
		if info, err := os.Stat(name + ending); err == nil && info.Mode().IsRegular() {
			if isStudyName(name) {
				name = "./" + name
			}
			return name + ending
		}
	}
	return ""
}

// These lines tell the kinds of files apart: a study, and lists of settings in sysctl.conf,
// loader.conf and tuned.conf.
var (
	studyLine    = pattern.MustCompile(`(?m)^(topology|workload|factors):`)
	workloadLine = pattern.MustCompile(`(?m)^(workload|factors|study):`)
	htmlPage     = pattern.MustCompile(`(?i)^\s*<(!doctype|html)\b`)
	fence        = pattern.MustCompile("(?m)^(```|~~~)") // around code in Markdown
	settingsLine = pattern.MustCompile(`(?m)^\s*-?[a-z][\w./-]*\s*=|^\[\w+\]`)
)

// wrongKind returns an error that names the right verb for a file of another kind than this verb
// reads; nil: the file may be of the right kind.
func wrongKind(verb, file string, text []byte) error {
	expected := map[string]string{"doctor": "a snapshot", "tune": "a list of settings"}
	if err := resultDocument(cmp.Or(expected[verb], "a study"), file, text); err != nil {
		return err
	}
	if verb != "tune" && htmlPage.Regexp().Match(text) {
		return fmt.Errorf("%s is an HTML page, not %s", file, cmp.Or(expected[verb], "a study"))
	}
	study := studyLine.Regexp().Match(text)
	if study && fence.Regexp().Match(text) {
		return fmt.Errorf("%s is Markdown, not %s: save that as a file of its own", file,
			cmp.Or(expected[verb], "a study"))
	}
	if verb == "measure" || verb == "tune" {
		if err := topologyAlone(file, text); err != nil {
			return err
		}
	}
	switch settings := mostlySettings(text); {
	case verb == "tune" && study:
		return fmt.Errorf(
			"%s is a study: linerate run %s; a copy without its factors has the hosts to try settings on: linerate "+
				"tune FILE --on COPY.yaml", file, quote(file))
	case (verb == "measure" || verb == "doctor") && study:
		return fmt.Errorf("%s is a study: linerate run %s", file, quote(file))
	case verb != "tune" && settings && !study:
		return fmt.Errorf("%s is a list of settings: linerate tune %s", file, quote(file))
	}
	return nil
}

// mostlySettings reports whether at least half of the lines of a text, but for comments, are settings.
func mostlySettings(text []byte) bool {
	settings, others := 0, 0
	for line := range bytes.Lines(text) {
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0 || line[0] == '#' || line[0] == ';':
		case settingsLine.Regexp().Match(line):
			settings++
		default:
			others++
		}
	}
	return settings > 0 && settings >= others
}

// topologyAlone returns an error that names the verb for a file that only has hosts and links; nil:
// it is another file.
func topologyAlone(file string, text []byte) error {
	if !studyLine.Regexp().Match(text) || workloadLine.Regexp().Match(text) {
		return nil
	}
	return fmt.Errorf(
		"%s has a topology and no workload: linerate lab up %s makes the lab; with a workload it is a study", file,
		quote(file))
}

// resultDocument returns an error for a JSON document of linerate that is not of the expected kind,
// with the verb that reads it; nil: it is another file.
func resultDocument(expected, file string, text []byte) error {
	var d struct{ Schema, ID, Run string }
	if json.Unmarshal(text, &d) != nil || !strings.HasPrefix(d.Schema, "linerate.") {
		return nil
	}
	switch run := cmp.Or(d.ID, d.Run); {
	case d.Schema == netstate.HostSnapshotSchema:
		return fmt.Errorf("%s is a snapshot of a host (%s), not %s: linerate doctor %s", file, d.Schema, expected,
			quote(file))
	case run != "":
		return fmt.Errorf("%s is of the run %.60q (%.40s), not %s: linerate report %s shows it", file, run, d.Schema,
			expected, quote(run))
	default:
		return fmt.Errorf("%s is a document that linerate wrote (%.40s), not %s", file, d.Schema, expected)
	}
}

// isStudyName reports whether a word names a built-in study, list or table, and not a path. A file
// arp-flux is named ./arp-flux.
func isStudyName(s string) bool { return s != "" && !strings.ContainsAny(s, `./\`) }

// maxStudyFile is somewhat larger than any study can be, so that the parser reports its own limit.
const maxStudyFile = 4 << 20

// readFile reads a file up to a bounded size: a path given by mistake may be a disk or a device
// that never ends.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; expected a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readText(f, path)
}

// readText reads in as readFile reads a file. path is its name in messages.
func readText(in io.Reader, path string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxStudyFile+1))
	if err == nil && len(data) > maxStudyFile {
		err = fmt.Errorf("%s has more than %d bytes, as no study and no list of settings has", path, maxStudyFile)
	}
	return data, err
}
