package study

import "linerate/internal/model/source"

// Decode reads a study file like Parse, but without checks and without defaults. It is the inverse
// of Text.
func Decode(file string, data []byte, set ...string) (*Study, error) {
	doc, problems := source.Parse(file, data, set...)
	if doc == nil {
		return nil, problems.Err()
	}
	s := &Study{}
	if err := append(problems, doc.Decode(s)...).Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Text returns the text of a file for a study from Decode, which may have been modified.
func (s *Study) Text() ([]byte, error) { return source.Encode(s) }
