package pattern

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// expressions have each operator of the syntax, anchored and not.
var expressions = []string{`^(\d{1,9}): ([^:@\s]{1,15})(@\S+)?: <([A-Z0-9_,-]*)> (.*)$`, `^\s*RX`, `abc|def`, `^a|b`,
	`^(?:a|b)?c`, `(?i)^abc`, `(?i)k`, `^(?i:ſ)x`, `x*`, `^x*$`, `^$`, ``, `[^a]`, `^[^a]b`, `^é+`, `^.b`, `(?s)^.b`, `a{0}b`,
	`^a{2,3}b`, `\bnet\b`, `^\bnet`, `(?m)^b`, `^(a)(b)?`, `(?:ab|cd|ef|gh|ij|kl|mn)x`, `^\x{FFFD}a`, `^[é-ö]`, `a+b*c?`,
	`^(?:^a|^b)`, `$^`, `[^\x00-\x{10FFFF}]`, `(a|)b`, `^(a|)b`, `(?:(?:ab)+c)?d`, `a$`, `(?:a|b$)`, `(?:a$|b$)`,
	`x(?:a|b)?$`, `(?i)k$`, `[^a]$`, `(?m)b$`, `é$`, `a\x{FFFD}$`, `(a|)$`, `\d{1,3}(?: \d)*$`, `b\z`, `\bb$`, `.$`, `(?s).$`}

var texts = []string{"", "a", "b", "c", "ac", "abc", "def", "xabcdef", "ABC", "K", "k", "\u212a", "ſx", "sx", "Sx", "é",
	"éé", "\xffa", "\n", "\nb", "a\nb", "bb", "2: eth0: <UP> mtu 1", "  RX: 1", "net 1", "aab", "aaab", "x", "klx", "d", "ababcd"}

// TestSameAsRegexp: a pattern finds what its expression finds.
func TestSameAsRegexp(t *testing.T) {
	for _, e := range expressions {
		for _, text := range texts {
			compare(t, e, text)
		}
	}
}

func compare(t *testing.T, expression, text string) {
	t.Helper()
	p, r := MustCompile(expression), regexp.MustCompile(expression)
	if got, want := p.MatchString(text), r.MatchString(text); got != want {
		t.Errorf("%q in %q: %v, want %v", expression, text, got, want)
	}
	if got, want := p.FindStringSubmatch(text), r.FindStringSubmatch(text); !slices.Equal(got, want) {
		t.Errorf("%q in %q: %q, want %q", expression, text, got, want)
	}
}

func FuzzSameAsRegexp(f *testing.F) {
	for i, e := range expressions {
		f.Add(e, texts[i%len(texts)])
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		if len(expression) > 100 || len(text) > 100 {
			return
		}
		if _, err := regexp.Compile(expression); err == nil {
			compare(t, expression, text)
		}
	})
}

// TestRefuses: what cannot match is refused without the expression.
func TestRefuses(t *testing.T) {
	for expression, text := range map[string]string{`^\d+: `: "x1: ", `^\S+ \S+ =>`: strings.Repeat("a ", 50),
		`(?:foo|bar)x`: "fobax", `^(?i)abc`: "xbc",
		`\d+$`: "1 a", `(?:a|b)?c{2}$`: "cca"} {
		if p := MustCompile(expression).compiled(); p.may(text) {
			t.Errorf("%q may be in %q: first %v, literals %q", expression, text, p.first != nil, p.literals)
		}
	}
}

// TestCompiledAtFirstUse: a pattern that is not used is not compiled.
func TestCompiledAtFirstUse(t *testing.T) {
	wrong := MustCompile(`a(`)
	defer func() {
		if recover() == nil {
			t.Error("an expression without its end was compiled")
		}
	}()
	wrong.MatchString("a")
}
