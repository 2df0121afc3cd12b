package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/studies"
)

// published finds the tables that a study names: built-in ones by name, others by path, relative to
// the study's file.
func published(studyFile string, s *study.Study) ([]record.Published, error) {
	var list []record.Published
	var problems []error
	for _, name := range s.Published {
		var text []byte
		var err error
		if isStudyName(name) {
			if text, err = studies.Published.ReadFile("published/" + name + ".csv"); err != nil {
				err = fmt.Errorf("published: no built-in table is called %q%s (a file of your own needs its path)",
					name, source.DidYouMean(name, builtinTables()))
			}
		} else {
			if !filepath.IsAbs(name) {
				name = filepath.Join(filepath.Dir(studyFile), name)
			}
			text, err = readFile(name)
		}
		var table record.Published
		if err == nil {
			table, err = record.ParsePublished(name, string(text))
		}
		if err == nil && !slices.ContainsFunc(s.Factors, func(f study.Factor) bool { return f.Name == table.Factor }) {
			err = fmt.Errorf("published table %s goes along a factor %q, which study %s does not have", name,
				table.Factor, s.Name)
		}
		list, problems = append(list, table), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, usageError(err)
	}
	return list, nil
}

func builtinTables() []string {
	files, _ := fs.Glob(studies.Published, "published/*.csv") // embedded, so this cannot fail
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".csv")
	}
	return files
}
