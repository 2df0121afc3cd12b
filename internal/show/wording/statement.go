package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
)

// statements are the words of statements, by code.
var statements table[string, func(arguments) string]

// state adds words of statements.
func state(all map[string]func(arguments) string) struct{} {
	return later(func() {
		for code, say := range all {
			statements.set(code, say)
		}
	})
}

// statement returns the words of a statement. One with a code that a later version has is shown as
// data.
func statement(s record.Statement) string {
	if say, has := statements.of(s.Code); has {
		return say(s.Args)
	}
	return strings.TrimSpace(s.Code + " " + strings.Join(s.Args, " "))
}

// arguments are those of a statement. One that a statement does not have is empty.
type arguments []string

func (a arguments) at(i int) string {
	if i < len(a) {
		return a[i]
	}
	return ""
}

// text returns the words of statements without arguments.
func text(words string) func(arguments) string {
	return func(arguments) string { return words }
}

// format returns the words of statements whose arguments stand in place of %[1]s, %[2]s, …
func format(words string) func(arguments) string {
	return func(a arguments) string {
		return fmt.Sprintf(words, a.at(0), a.at(1), a.at(2), a.at(3))
	}
}

// bounded is what tuned's bound lets a value become.
func bounded(bound string) string {
	if bound == "<" {
		return "smaller"
	}
	return "larger"
}
