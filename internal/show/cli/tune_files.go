package cli

import (
	"bytes"
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

// readTuning reads files of settings in the given order. Skipped are the entries of directories that are
// not read. The error lists everything that is wrong.
func readTuning(in io.Reader, args []string, system string) (files []settingfile.File, skipped []string, err error) {
	var problems []error
	for _, arg := range args {
		names, others, err := tuningNames(arg)
		skipped = append(skipped, others...)
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
		return nil, nil, err
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("no file in %s ends in .conf", strings.Join(args, ", "))
	}
	return files, skipped, nil
}

// tuningNames returns the files that an argument stands for: the argument itself, or the files of a
// directory in the order in which sysctl.d(5) has them read. Others are the other entries of the directory.
func tuningNames(arg string) (names, others []string, err error) {
	info, err := os.Stat(arg)
	if err != nil || !info.IsDir() {
		return []string{arg}, nil, nil // reading it reports any error
	}
	entries, err := os.ReadDir(arg) // sorted by name
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		name := filepath.Join(arg, e.Name())
		if strings.HasSuffix(e.Name(), ".conf") && !e.IsDir() {
			names = append(names, name)
		} else {
			others = append(others, name)
		}
	}
	return names, others, nil
}

// maxList bounds a file of settings: what parses one is slower by the byte than what parses a study.
const maxList = 1 << 20

// readTuningFile reads a file, standard input, or one of the published lists.
func readTuningFile(in io.Reader, name string) ([]byte, error) {
	text, _, err := readNamed(in, "list", "lists", name, studies.ListNames(), studies.List)
	switch {
	case err != nil:
	case len(text) > maxList:
		err = fmt.Errorf("%s has more than %d bytes, as no list of settings has", name, maxList)
	case wideText(text):
		err = fmt.Errorf("%s is UTF-16 text, which programs of Linux do not read: convert it by iconv -f UTF-16 -t "+
			"UTF-8", name)
	case strings.ContainsRune(string(text), 0):
		err = fmt.Errorf("%s is not text: expected a list of settings", name)
	default:
		err = wrongKind("tune", name, text)
	}
	return text, err
}

// wideText reports whether a file is text in UTF-16: every other byte of its beginning is 0, behind a byte
// order mark or none.
func wideText(text []byte) bool {
	head := bytes.TrimPrefix(bytes.TrimPrefix(text, []byte{0xff, 0xfe}), []byte{0xfe, 0xff})
	head = head[:min(len(head)&^1, 64)]
	zero := [2]int{}
	for i, b := range head {
		if b == 0 {
			zero[i%2]++
		}
	}
	return len(head) >= 8 && (zero[0] == 0) != (zero[1] == 0) && max(zero[0], zero[1]) > len(head)/3
}
