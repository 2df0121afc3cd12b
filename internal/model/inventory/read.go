package inventory

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

// These lines tell the kinds of files apart.
var (
	switchLine  = pattern.MustCompile(`(?im)^\s*(SwitchName|BlockName)\s*=`)
	sectionLine = pattern.MustCompile(`^\[[^\[\]]*[^\[\]:]\]\s*([#;].*)?$`)
	// a key of YAML, or an item of a list
	yamlLine = pattern.MustCompile(`^\s*(- |---|\? |[{]|("[^"]*"|'[^']*'|[^\s#=]+)\s*:(\s|$))`)
	pairLine = pattern.MustCompile(`^\S.*\s\S+=`)
	pluginIs = pattern.MustCompile(`(?m)^plugin\s*:`)
)

// read recognises the kind of a file and decodes it.
func read(file string, data []byte) (*Inventory, source.Problems) {
	alone := func(text string) (*Inventory, source.Problems) {
		return nil, source.Problems{{File: file, Text: text}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch trimmed := bytes.TrimSpace(data); {
	case len(data) > mostBytes:
		return alone("larger than 4 MiB, which no inventory is that is read")
	case bytes.HasPrefix(data, []byte("#!")), bytes.HasPrefix(data, []byte("\x7fELF")):
		return alone("it is a program, which linerate does not execute: execute it yourself with --list, " +
			"and give linerate what it prints")
	case bytes.HasPrefix(trimmed, []byte("$ANSIBLE_VAULT;")):
		return alone("it is encrypted: ansible-vault view prints it")
	case !utf8.Valid(data) || bytes.ContainsRune(data, 0):
		return alone("not a text file in UTF-8")
	case len(trimmed) == 0:
		return alone("it has no hosts")
	case trimmed[0] == '{':
		return ansibleJSON(file, data)
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	switch {
	case switchLine.Regexp().MatchString(text):
		return slurmRacks(file, text)
	case pluginIs.Regexp().MatchString(text):
		return alone("it configures a plugin of Ansible, which linerate does not execute: ansible-inventory " +
			"-i FILE --list prints an inventory that linerate reads")
	}
	yaml, section, pairs := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		switch bare := strings.TrimSpace(line); {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
			continue
		case sectionLine.MatchString(line):
			section = true
		case yamlLine.MatchString(line):
			yaml = true
		case pairLine.MatchString(line):
			pairs = true
		}
		if section || yaml {
			break
		}
	}
	switch {
	case yaml && !section:
		return yamlFile(file, data)
	case section || pairs:
		return ansibleINI(file, text)
	}
	return nodeLists(file, text)
}
