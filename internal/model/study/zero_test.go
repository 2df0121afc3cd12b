package study

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// leaf is a key of study files with a number or a text.
type leaf struct {
	source.Field
	path  string
	owner string // the type that has the key
	of    func(*Study) reflect.Value
}

// filler sets every key of a study, and lists those with a number or a text.
type filler struct{ leaves []leaf }

// samples are values of types with their own notation.
var samples = map[string]string{
	"netip.Addr": "10.0.0.1", "netip.Prefix": "10.0.0.0/24", "topology.Address": "10.0.0.1/24",
	"topology.End": "a.eth0", "flow.DSCP": "EF", "unit.BitRate": "1gbit", "unit.Bytes": "2KiB", "unit.Duration": "1s",
	"unit.Ratio": "50%", "unit.Depth": "2KiB",
}

// fill sets v, which is the value of f at a path, to something other than zero.
func (c *filler) fill(v reflect.Value, f source.Field, path string) {
	if text, is := v.Addr().Interface().(encoding.TextUnmarshaler); is {
		if err := text.UnmarshalText([]byte(samples[v.Type().String()])); err != nil {
			panic(fmt.Sprintf("no sample of %s: %v", v.Type(), err))
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		c.fill(v.Elem(), f, path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		c.fill(v.Index(0), f, path+"[0]")
	case reflect.Struct:
		c.structure(v, path)
	case reflect.String:
		v.SetString("x")
		if len(f.Enum) > 0 {
			v.SetString(f.Enum[0])
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint64:
		v.SetUint(1)
	default:
		v.SetInt(1)
	}
}

func (c *filler) structure(v reflect.Value, path string) {
	fields := map[string]source.Field{}
	for _, f := range source.Fields(v.Type()) {
		fields[f.Name] = f
	}
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch f := fields[name]; {
		case name == "-" || name == "" && option == "":
		case option == "inline":
			c.structure(v.Field(i), path)
		case name == "": // the key or the value of an entry
			c.fill(v.Field(i), f, path)
		default:
			c.fill(v.Field(i), f, path+"."+name)
			inner := v.Field(i)
			if kind := deref(inner).Kind(); kind == reflect.Slice || kind == reflect.Struct && !isDepth(inner) {
				continue
			}
			c.leaves = append(c.leaves, leaf{f, strings.TrimPrefix(path+"."+name, "."), v.Type().String(),
				func(s *Study) reflect.Value { return reach(reflect.ValueOf(s).Elem(), path+"."+name) }})
		}
	}
}

func deref(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

func isDepth(v reflect.Value) bool { return v.Type().String() == "unit.Depth" }

// reach returns the value at a path.
func reach(v reflect.Value, path string) reflect.Value {
	for key := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		name, index, _ := strings.Cut(key, "[")
		v = field(deref(v), name)
		if index != "" {
			v = v.Index(0)
		}
	}
	return v
}

func field(v reflect.Value, key string) reflect.Value {
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if option == "inline" {
			if inner := field(v.Field(i), key); inner.IsValid() {
				return inner
			}
		} else if name == key {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// zeroOf returns the zero of a value as files spell it.
func zeroOf(v reflect.Value) string {
	switch v = deref(v); {
	case v.Kind() == reflect.String:
		return ""
	case v.Kind() == reflect.Bool:
		return "false"
	}
	return map[string]string{"unit.Duration": "0s", "unit.Ratio": "0%", "unit.BitRate": "0bit"}[v.Type().String()] +
		map[bool]string{true: "0"}[samples[v.Type().String()] == "" || strings.HasSuffix(v.Type().String(), "Bytes") ||
			isDepth(v) || v.Kind() == reflect.Uint8]
}

// saysZero matches the documentation of a key whose zero is the same as no key.
var saysZero = regexp.MustCompile(`\b0(s|%)? or absent\b`)

// TestZeroIsNotAbsent: of every key of study files, zero is refused under the key's name, or kept
// apart from an absent key, or documented to be the same. What is printed of a study with it is
// read as the same study.
func TestZeroIsNotAbsent(t *testing.T) {
	full, fill := &Study{}, filler{}
	fill.structure(reflect.ValueOf(full).Elem(), "")
	text, err := full.Text()
	if err != nil {
		t.Fatalf("a study with every key has no text: %v", err)
	}
	refused, kept, same := 0, 0, 0
	for _, l := range fill.leaves {
		if l.Required {
			continue // never absent
		}
		zero := zeroOf(l.of(full))
		got, err := Decode("f", text, l.path+"="+zero)
		if err != nil {
			if refused++; !strings.Contains(err.Error(), l.Name) && !strings.Contains(err.Error(), "is not a") {
				t.Errorf("%s: %q is refused without the key: %v", l.path, zero, err)
			}
			continue
		}
		absent, err := Decode("f", text)
		if err != nil {
			t.Fatal(err)
		}
		l.of(absent).SetZero()
		switch {
		case !reflect.DeepEqual(got, absent):
			kept++
		case l.Type.Kind() == reflect.Bool: // false is what an absent one is
		case saysZero.MatchString(l.Doc):
			same++
		default:
			t.Errorf("%s: %q is taken for an absent key, whose meaning is: %s", l.path, zero, l.Doc)
		}
		printed, err := got.Text()
		if err != nil {
			t.Errorf("%s: %q: %v", l.path, zero, err)
			continue
		}
		if again, err := Decode("f", printed); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: %q is another study after Text, %v", l.path, zero, err)
		}
	}
	if refused < 100 || kept < 20 || same < 5 {
		t.Errorf("of %d keys %d refuse zero, %d keep it and of %d it is the default; want more", len(fill.leaves),
			refused, kept, same)
	}
}

// TestZeroOfDirection: in the section of a direction each property that may be zero replaces that
// of the link, also after the notebook has stored the link.
func TestZeroOfDirection(t *testing.T) {
	for _, f := range source.Fields(reflect.TypeFor[topology.Impairment]()) {
		if !f.Zero {
			continue
		}
		link := topology.Link{}
		fill := filler{}
		fill.structure(reflect.ValueOf(&link).Elem(), "")
		link.Forward, link.Reverse = nil, nil
		text := fmt.Sprintf("from: a.eth0\nto: b.eth0\n%s: %v\nreverse: {%s: %s}\n", f.Name,
			field(reflect.ValueOf(link), f.Name), f.Name, zeroOf(field(reflect.ValueOf(link), f.Name)))
		doc, problems := source.Parse("f", []byte(text))
		link = topology.Link{}
		if problems = append(problems, doc.Decode(&link)...); problems.Err() != nil {
			t.Fatal(problems)
		}
		stored, err := json.Marshal(link)
		if err != nil {
			t.Fatal(err)
		}
		var again topology.Link
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatal(err)
		}
		for _, l := range []topology.Link{link, again} {
			if there := field(reflect.ValueOf(l.Towards(l.From)), f.Name); there.IsZero() {
				t.Errorf("%s: it is zero from → to as well", f.Name)
			}
			if back := field(reflect.ValueOf(l.Towards(l.To)), f.Name); !back.IsZero() {
				t.Errorf("%s: %v to → from, want zero: %s", f.Name, back, stored)
			}
		}
	}
}
