package settingfile

import (
	"path"
	"strings"

	"linerate/internal/model/pattern"
)

const unitFile = "systemd.unit" // units and drop-ins of systemd

// unit parses units of systemd.
func (f *File) unit(text string) {
	s := newScript(f, "#!/bin/sh")
	for l := range sections(text) {
		switch {
		case l.section == "Container" && l.key == "Sysctl":
			s.within, s.container = "container "+strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name)), true
			for word := range strings.FieldsSeq(l.value) {
				key, value, _ := strings.Cut(strings.Trim(word, `"'`), "=")
				f.set(Line{Line: l.n, Key: dotted(key), Value: value, Within: s.within, Container: true}, l.line)
			}
			s.within, s.container = "", false
		case l.section == "Service" && (l.key == "ExecStart" || l.key == "ExecStartPre" || l.key == "ExecStartPost"):
			f.unitCommand(s, l)
		case strings.HasPrefix(l.key, "Exec") && relevant(l.value):
			f.apart(Note, l.n, l.line, l.key+" is not executed when the unit starts")
		}
	}
	s.finish()
}

var (
	specifier = pattern.MustCompile(`%[A-Za-z]`)
	// environment matches what systemd replaces in a word.
	environment = pattern.MustCompile(`\$\{\w+\}|^\$\w+$`)
	// shellSign matches a word that has a meaning for a shell only.
	shellSign = pattern.MustCompile(`^([0-9&]?>{1,2}.*|<.*|\|\|?|&&?)$`)
)

// unitCommand reads the commands of a line as systemd does: without a shell.
func (f *File) unitCommand(s *script, l sectionLine) {
	var command []string
	run := func() {
		if len(command) > 0 {
			s.run(strings.Join(command, " "), func(int) int { return l.n })
		}
		command = nil
	}
	for _, word := range unitWords(strings.TrimLeft(l.value, "@-:+!|")) {
		on := specifier.Regexp().FindString(strings.ReplaceAll(word, "%%", ""))
		if on == "" {
			on = environment.Regexp().FindString(strings.ReplaceAll(word, "$$", ""))
		}
		switch {
		case word == ";":
			run()
		case on != "" && relevant(l.value):
			f.apart(Unread, l.n, l.line, "depends on "+on)
			return
		case shellSign.MatchString(word) && relevant(l.value):
			f.apart(Wrong, l.n, l.line, "systemd executes no shell: "+word+" and what follows are arguments of the "+
				"command; write sh -c '…'")
			return
		default:
			word = strings.NewReplacer("%%", "%", "$$", "$", `'`, `'\''`).Replace(word)
			command = append(command, "'"+word+"'")
		}
	}
	run()
}

// unitWords splits a command line of systemd into words (systemd.service(5)).
func unitWords(text string) (words []string) {
	var b strings.Builder
	quote, begun := rune(0), false
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && !begun && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, b.String())
			}
			b.Reset()
			begun = false
		default:
			b.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, b.String())
	}
	return words
}
