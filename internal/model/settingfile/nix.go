package settingfile

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
)

var _ = register(&format{
	name: "nix", label: "NixOS module",
	manual: "search.nixos.org, boot.kernel.sysctl", by: "`.nix`, or `boot.kernel.sysctl`",
	yields: "`boot.kernel.sysctl`, in one path or nested, with `mkForce`, `mkDefault`, `mkIf` and the like; other " +
		"expressions are not read",
	named: func(base, _ string) bool { return path.Ext(base) == ".nix" },
	has:   func(text string) bool { return nixPath.MatchString(text) },
	read:  (*File).nix,
})

var nixPath = pattern.MustCompile(`(?m)^\s*boot\.kernel\.sysctl\b`)

// nixToken matches a token of Nix: a comment, a string, a name, a number, or a sign.
var nixToken = pattern.MustCompile(`#[^\n]*|/\*(?s:.*?)\*/|''(?s:.*?)''|"(?:[^"\\]|\\.)*"|[A-Za-z_][\w'-]*|` +
	`-?[0-9][0-9_.]*|\s+|.`)

// nixScope is a set of attributes that a text is in.
type nixScope struct {
	path  []string
	when  string
	outer nixStatement // in whose value it is
}

// nixStatement is an attribute up to its semicolon.
type nixStatement struct {
	path   []string
	line   int
	equals bool
	value  []lexeme
	set    bool // the value has a set of attributes, which was read
}

// nix parses the attributes of a module: it follows the nesting of sets, and evaluates nothing.
func (f *File) nix(text string) {
	var scopes []nixScope
	now := nixStatement{}
	prefix := func() (path []string, when string) {
		var conditions []string
		for _, s := range scopes {
			path = append(path, s.path...)
			if s.when != "" {
				conditions = append(conditions, s.when)
			}
		}
		return path, strings.Join(conditions, ", ")
	}
	for _, t := range lexemes(nixToken, text) {
		switch {
		case t.text == "{":
			scope := nixScope{outer: now}
			if now.equals {
				scope.path = now.path
				for _, v := range now.value {
					if v.text == "mkIf" || v.text == "if" || v.text == "optionalAttrs" {
						scope.when = fmt.Sprintf("%s on line %d", v.text, v.line)
					}
				}
			}
			scopes = append(scopes, scope)
			now = nixStatement{}
		case t.text == "}":
			if len(scopes) > 0 {
				now = scopes[len(scopes)-1].outer
				scopes = scopes[:len(scopes)-1]
			}
			now.set = true
		case t.text == ";":
			outer, when := prefix()
			f.nixAttribute(append(outer, now.path...), now, when)
			now = nixStatement{}
		case t.text == "in" && len(now.value) == 0:
			now = nixStatement{}
		case t.text == "=" && !now.equals:
			now.equals = true
		case now.equals:
			now.value = append(now.value, t)
		case t.text == ".":
		default:
			name := t.text
			if quoted, is := quotedText(name); is {
				name = quoted
			}
			now.line = cmp.Or(now.line, t.line)
			now.path = append(now.path, name)
		}
	}
	f.unmentioned(text)
}

// nixFunctions are functions that return their last argument.
var nixFunctions = []string{"lib", ".", "mkForce", "mkDefault", "mkOverride", "mkVMOverride", "mkOptionDefault",
	"mkBefore", "mkAfter", "toString", "builtins", "(", ")"}

// nixAttribute adds a parameter, if an attribute is one.
func (f *File) nixAttribute(path []string, s nixStatement, when string) {
	if len(path) < 4 || !slices.Equal(path[:3], []string{"boot", "kernel", "sysctl"}) || s.set || !s.equals {
		return
	}
	key := dotted(strings.Join(path[3:], "."))
	var rest []lexeme
	for i, t := range s.value {
		overridden := i > 0 && s.value[i-1].text == "mkOverride" // its first argument is a priority
		if !slices.Contains(nixFunctions, t.text) && !overridden {
			rest = append(rest, t)
		}
	}
	written := lists.Map(s.value, func(t lexeme) string { return t.text })
	value, ok := "", len(rest) == 1
	if ok {
		value, ok = nixLiteral(rest[0].text)
	}
	switch {
	case !ok:
		f.apart(Unread, s.line, key+" = "+strings.Join(written, " "), "depends on an expression")
	case value == "null":
		f.apart(Note, s.line, key+" = null", "leaves the parameter as the kernel has it")
	default:
		f.set(Line{Line: s.line, Key: key, Value: value, When: when}, key+" = "+strings.Join(written, " "))
	}
}

// nixLiteral returns the value of a literal. It returns false for other tokens.
func nixLiteral(token string) (value string, is bool) {
	switch {
	case token == "true" || token == "false":
		return number(token), true
	case token == "null":
		return token, true
	case strings.HasPrefix(token, "''") && len(token) >= 4:
		return strings.Join(strings.Fields(token[2:len(token)-2]), " "), !strings.Contains(token, "${")
	case token[0] == '"':
		value, is = quotedText(token)
		return strings.Join(strings.Fields(value), " "), is && value != ""
	case token[0] == '-' || token[0] >= '0' && token[0] <= '9':
		return token, true
	}
	return "", false
}
