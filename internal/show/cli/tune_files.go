package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/model/settingfile"
	"linerate/studies"
)

// readTuning reads files of settings in the given order. The error lists everything that is wrong.
func readTuning(in io.Reader, args []string, system string) ([]settingfile.File, error) {
	var files []settingfile.File
	var problems []error
	for _, arg := range args {
		names, err := tuningNames(arg)
		problems = append(problems, err)
		for _, name := range names {
			text, err := readTuningFile(in, name)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			if slices.ContainsFunc(files, func(f settingfile.File) bool { return f.Name == name }) {
				problems = append(problems, fmt.Errorf("%s is given twice", name))
				continue
			}
			files = append(files, settingfile.Read(name, text, system))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no file in %s ends in .conf", strings.Join(args, ", "))
	}
	return files, nil
}

// tuningNames returns the files that an argument stands for: the argument itself, or the files of a
// directory in the order in which sysctl.d(5) has them read.
func tuningNames(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	if err != nil || !info.IsDir() {
		return []string{arg}, nil // reading it reports any error
	}
	entries, err := os.ReadDir(arg) // sorted by name
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".conf") && !e.IsDir() {
			names = append(names, filepath.Join(arg, e.Name()))
		}
	}
	return names, nil
}

// readTuningFile reads a file, standard input, or one of the published lists.
func readTuningFile(in io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(in, maxStudyFile))
	}
	text, _, err := readNamed(in, "list", "lists", name, studies.ListNames(), studies.List)
	if err == nil && strings.ContainsRune(string(text), 0) {
		err = fmt.Errorf("%s is not text: expected a list of settings", name)
	}
	if err == nil {
		err = wrongKind("tune", name, text)
	}
	return text, err
}
