package study

import "linerate/internal/model/source"

// Decode reads a study file as Parse does, without checking it and without defaults: what
// Text writes.
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

// Text is the file of a study that Decode has read, which may have been changed since.
func (s *Study) Text() ([]byte, error) { return source.Encode(s) }
