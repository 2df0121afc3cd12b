package settingfile

import (
	"strings"
	"unicode"

	"linerate/internal/model/pattern"
)

// This file parses what people paste into a sysctl.conf although programs reject it there: shell
// commands, paths below /proc/sys, several settings on a line, and typographic characters from web
// pages.

// below is the prefix of the path of a parameter's file, which is an alternative to its name. sysfs and
// procfs are those of other files that scripts write.
const (
	below  = "/" + "proc/sys/"
	sysfs  = "/" + "sys/"
	procfs = "/" + "proc/"
)

var (
	// assigned matches the beginning of a setting: a kernel parameter's name that is followed by a
	// value.
	assigned = pattern.MustCompile(
		`(?:^|[\s;,])["']?((?:/proc/sys/)?(?:net|vm|fs|kernel|kern|user|dev|sunrpc)[./][^\s=:;"']+)\s*=\s*`)
	// unassigned matches a setting without an equals sign.
	unassigned = pattern.MustCompile(
		`^((?:/proc/sys/)?(?:net|vm|fs|kernel|kern|user|dev|sunrpc)[./][^\s=:]+)(?:\s*:\s*|\s+)([^\s=].*)$`)
	// command matches sysctl(8) with what precedes its settings.
	command = pattern.MustCompile(`^(?:\$\s+)?(?:sudo\s+)?(?:/(?:usr/)?sbin/)?sysctl((?:\s+-[A-Za-z-]+)*)\s+(.*)$`)
	// program matches a line with another command that guides list together with parameters.
	program = pattern.MustCompile(
		`^(?:\$\s+)?(?:sudo\s+)?(?:/(?:usr/)?s?bin/)?(ethtool|ip|ifconfig|tc|modprobe|iptables|nft|systemctl|service|` +
			`ulimit|cpupower)\s`)
	// after matches what can follow a value and belongs to the next setting.
	after = pattern.MustCompile(`[\s;,&]*((?:\s|^)(?:sudo\s+)?sysctl(?:\s+-[A-Za-z-]+)*)?[\s;,&]*$`)
	// written matches a value that is written to a file below /proc/sys.
	written = pattern.MustCompile(
		`^(?:\$\s+)?(?:sudo\s+)?(?:(?:ba)?sh\s+-c\s+["'])?echo\s+(?:-n\s+)?([^|>]*?)\s*(?:>>?|\|` +
			`\s*(?:sudo\s+)?tee(?:\s+-a)?)\s*/proc/sys/([^\s"']+)["']?$`)
)

// intended returns the settings "key = value" that a malformed line was meant to make, and why the
// line is rejected. It returns none if the line is correct or nothing is known about it.
func intended(line string) (list []string, why string) {
	text, _, _ := strings.Cut(line, "#") // in a shell a comment follows, and after a value Bare finds it
	text, odd := ascii(strings.TrimSpace(text))
	switch m := written.FindStringSubmatch(text); {
	case m != nil:
		return []string{assignment(m[2], m[1])}, "expected KEY = VALUE, not a command"
	case odd != "":
		why = odd + ", as in text from a web page, becomes part of the name or value"
	}
	if m := command.FindStringSubmatch(text); m != nil {
		text, why = m[2], "expected KEY = VALUE, not a command"
	}
	m := unassigned.FindStringSubmatch(text)
	if m != nil && !assigned.MatchString(text) && !strings.Contains(m[2], "=") {
		return []string{assignment(m[1], m[2])}, "expected an equals sign between name and value"
	}
	at := assigned.Regexp().FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		list = append(list, assignment(text[m[2]:m[3]], after.Regexp().ReplaceAllString(text[m[1]:end], "")))
	}
	switch {
	case len(at) > 1 && why == "":
		return list, "expected one setting on a line"
	case len(at) == 1 && why == "" && strings.HasPrefix(text, below):
		return list, "expected the name without /proc/sys/"
	case why == "" || len(at) > 0 && at[0][0] > 0 && text[:at[0][0]] != "-":
		return nil, ""
	}
	return list, why
}

// assignment formats a line of sysctl.conf.
func assignment(key, value string) string {
	value = strings.TrimSpace(value)
	if n := len(value) - 1; n > 0 && strings.HasSuffix(value, `"`) != strings.HasPrefix(value, `"`) ||
		strings.HasSuffix(value, "'") != strings.HasPrefix(value, "'") {
		value = strings.Trim(value, `"'`) // the other one is before the key
	}
	if path, found := strings.CutPrefix(key, below); found {
		key = path
	}
	return dotted(key) + " = " + unquoted(value)
}

// ascii replaces typographic spaces, quotes and dashes. Odd names the first one.
func ascii(text string) (plain, odd string) {
	plain = strings.Map(func(r rune) rune {
		name, instead := "", r
		switch {
		case r == '\u00a0' || r == '\u202f':
			name, instead = "a non-breaking space", ' '
		case r == '\u200b' || r == '\ufeff':
			name, instead = "an invisible space", -1
		case r > unicode.MaxASCII && unicode.IsSpace(r):
			name, instead = "a wide space", ' '
		case strings.ContainsRune("“”„‟«»″", r):
			name, instead = "a typographic quote", '"'
		case strings.ContainsRune("‘’‚‛′", r):
			name, instead = "a typographic quote", '\''
		case strings.ContainsRune("‐‑‒–—−", r):
			name, instead = "a typographic dash", '-'
		}
		if odd == "" {
			odd = name
		}
		return instead
	}, text)
	return plain, odd
}
