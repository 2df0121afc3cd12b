package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/studies"
)

// loadStudyWith reads a study by the name of a built-in one or by its file's path,
// with some values replaced (--set path=value). What is wrong with it is the
// user's to mend: exit status 2.
func loadStudyWith(nameOrFile string, set []string) (*study.Study, []byte, error) {
	file, data, err := readStudy(nameOrFile)
	if err != nil {
		return nil, nil, usageError(err)
	}
	s, err := study.ParseWith(file, data, set)
	if err != nil {
		return nil, data, inputError(file, err)
	}
	return s, data, nil
}

// loadTopology reads the topology of a study, or of a file that has nothing else.
func loadTopology(nameOrFile string) (*topology.Topology, error) {
	file, data, err := readStudy(nameOrFile)
	if err != nil {
		return nil, usageError(err)
	}
	t, err := study.ParseTopology(file, data)
	if err != nil {
		return nil, inputError(file, err)
	}
	return t, nil
}

// inputError says how many mistakes a file has before listing them, each on a
// line of its own that an editor can jump to.
func inputError(file string, err error) error {
	problems, ok := errors.AsType[source.Problems](err)
	switch {
	case !ok:
		return usageError(err)
	case len(problems) == 1:
		return usageError(fmt.Errorf("%s has a mistake; nothing has been created\n%w", file, err))
	}
	return usageError(fmt.Errorf("%s has %d mistakes; nothing has been created\n%w", file, len(problems), err))
}

// readStudy returns the text of a built-in study or of a file, and what to call
// it in messages.
func readStudy(nameOrFile string) (string, []byte, error) {
	if isStudyName(nameOrFile) {
		if data, err := studies.Files.ReadFile(nameOrFile + ".yaml"); err == nil {
			return nameOrFile + ".yaml", data, nil
		}
	}
	data, err := readFile(nameOrFile)
	if errors.Is(err, fs.ErrNotExist) {
		names := studies.Names()
		if isStudyName(nameOrFile) {
			return "", nil, fmt.Errorf("no study and no file is called %q%s", nameOrFile, source.DidYouMean(nameOrFile, names))
		}
		return "", nil, fmt.Errorf("no file %q (built-in studies: %s)", nameOrFile, strings.Join(names, ", "))
	}
	return nameOrFile, data, err
}

// isStudyName tells the name of a study from a path, so that a file called
// ./arp-flux is still reachable.
func isStudyName(s string) bool { return s != "" && !strings.ContainsAny(s, `./\`) }

// maxStudyFile is somewhat more than a study can have, so that the parser is the
// one to say what its limit is.
const maxStudyFile = 4 << 20

// readFile reads a file, "-" being standard input, and no more of it than could
// be meant: a path given by mistake may be a disk or a device that never ends.
func readFile(path string) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, fmt.Errorf("%s is a directory; expected a study file", path)
		}
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	data, err := io.ReadAll(io.LimitReader(f, maxStudyFile+1))
	if err == nil && len(data) > maxStudyFile {
		err = fmt.Errorf("%s has more than %d bytes; expected a study file", path, maxStudyFile)
	}
	return data, err
}
