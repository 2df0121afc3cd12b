package wording

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// hostile is what every text of a finding is: a command, if a shell reads it unquoted.
const hostile = "x;$(canary)`canary`|&<'>"

// TestFixesQuote: whatever the texts of a finding are, in a line of its fix they are words of the shell and no command.
func TestFixesQuote(t *testing.T) {
	const safe = `'x;$(canary)` + "`canary`" + `|&<'\''>'`
	check := func(what string, lines []string) {
		for _, line := range lines {
			if strings.Contains(strings.ReplaceAll(line, safe, ""), "canary") {
				t.Errorf("%s: %s", what, line)
			}
		}
	}
	for _, code := range cause.All() {
		for _, system := range []string{"", "freebsd", "openbsd", "macos"} {
			f := record.Finding{ID: code, Host: "a", Facts: []fact.Fact{}, System: system, Args: cause.Zero(code)}
			f.Args = withHostile(f.Args)
			f.About.Interface, f.About.Object = hostile, hostile
			f.About.Address = netip.MustParseAddr("fe80::1%" + hostile)
			worded := Worded(f, true)
			check(code, worded.Fix)
			check(code, worded.Advice)
		}
	}
	for _, zero := range hint.Kinds() {
		check(reflect.TypeOf(zero).String(), Step(record.Step{Hint: &hint.Hint{Is: withHostile(zero)}}, true))
	}
	for name, step := range map[string]record.Step{
		"flush":   {Flush: &record.Flush{To: netip.MustParsePrefix("192.0.2.0/24"), Interface: hostile}},
		"command": {Command: []string{"ip", "link", "show", "dev", hostile}},
		"setting": {Setting: &setting.Setting{Link: &setting.Link{Interface: hostile, MTU: 9000}}},
		"sysctl":  {Setting: &setting.Setting{Sysctl: []setting.Sysctl{{Key: "net." + hostile, Value: hostile}}}},
	} {
		for _, line := range Step(step, true) {
			left := strings.NewReplacer("'net."+safe[1:], "", safe, "").Replace(line)
			if strings.Contains(left, "canary") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	file, err := syntax.NewParser().Parse(strings.NewReader("ip link show dev "+quoted(hostile)), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Cmd.(*syntax.CallExpr).Args) != 5 {
		t.Errorf("a shell reads %q otherwise: %v", quoted(hostile), err)
	}
}

// withHostile returns a value of which each text is hostile, with one element in each list.
func withHostile(value any) any {
	if value == nil {
		return nil
	}
	v := reflect.New(reflect.TypeOf(value)).Elem()
	v.Set(reflect.ValueOf(value))
	var fill func(v reflect.Value, depth int)
	fill = func(v reflect.Value, depth int) {
		if v.Type() == reflect.TypeFor[netip.Addr]() {
			v.Set(reflect.ValueOf(netip.MustParseAddr("fe80::1%" + hostile)))
			return
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString(hostile)
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Field(i).CanSet() {
					fill(v.Field(i), depth)
				}
			}
		case reflect.Slice:
			if depth < 4 {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
				fill(v.Index(0), depth+1)
			}
		case reflect.Pointer:
			if depth < 4 {
				v.Set(reflect.New(v.Type().Elem()))
				fill(v.Elem(), depth+1)
			}
		}
	}
	fill(v, 0)
	return v.Interface()
}
