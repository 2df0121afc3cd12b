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

// notRead are entries of directories that are not read.
type notRead struct {
	skipped []string // their names do not end in .conf
	masked  []string // another directory has a file of the same name
}

// readTuning reads files of settings in the given order. The error lists everything that is wrong.
func readTuning(in io.Reader, args []string, system string) (files []settingfile.File, not notRead, err error) {
	defer computing()()
	var problems []error
	names, not, err := tuningNames(args)
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
	if err := errors.Join(problems...); err != nil {
		return nil, notRead{}, err
	}
	if len(files) == 0 {
		return nil, notRead{}, fmt.Errorf("no file in %s ends in .conf", strings.Join(args, ", "))
	}
	return files, not, nil
}

// tuningNames returns the files that arguments stand for: themselves, and for directories that are given
// one after the other their files, in the order in which sysctl.d(5) has them read.
func tuningNames(args []string) (names []string, not notRead, err error) {
	var problems []error
	var files []string // of the directories before
	inOrder := func() {
		applied, masked := settingfile.ApplyOrder(files)
		names, not.masked, files = append(names, applied...), append(not.masked, masked...), nil
	}
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() { // reading it reports any error
			inOrder()
			names = append(names, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		problems = append(problems, err)
		for _, e := range entries {
			name := filepath.Join(arg, e.Name())
			if strings.HasSuffix(e.Name(), ".conf") && !e.IsDir() {
				files = append(files, name)
			} else {
				not.skipped = append(not.skipped, name)
			}
		}
	}
	inOrder()
	return names, not, errors.Join(problems...)
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
