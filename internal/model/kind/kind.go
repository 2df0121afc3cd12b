// Package kind encodes values of several types as JSON, each under the name of its type:
// {"counter": {"name": "rx_dropped"}}. The files that define the types register them while
// variables are initialised.
package kind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// Set is a set of types with their names. The zero value is empty. Types are added before the set is used: the
// first use makes its maps.
type Set struct {
	added []named
	once  sync.Once
	types map[string]reflect.Type
	names map[reflect.Type]string
}

// NewSet returns an empty set with room for n types: a program that starts makes it once.
func NewSet(n int) *Set { return &Set{added: make([]named, 0, n)} }

// named is a type with its name. Empty: the name is made of that of the type.
type named struct {
	name string
	of   reflect.Type
}

// Unknown is a value with a name that this version does not know. It is encoded exactly as it was
// read.
type Unknown struct {
	Name string
	JSON string
}

// MarshalJSON returns the JSON of the value without its name.
func (u Unknown) MarshalJSON() ([]byte, error) { return []byte(u.JSON), nil }

// Add registers the types of values, each under its name in snake case: that name is a part of the format of what is
// stored. If a name or a type is registered twice, the first use of the set panics. The result is only there so that
// Add can initialise a variable.
func Add(s *Set, values ...any) struct{} {
	for _, v := range values {
		s.added = append(s.added, named{of: reflect.TypeOf(v)})
	}
	return struct{}{}
}

// AddAs registers type T like Add, under another name.
func AddAs[T any](s *Set, name string) struct{} {
	s.added = append(s.added, named{name, reflect.TypeFor[T]()})
	return struct{}{}
}

// snake returns the name of a type in snake case: "tcp_info" of TCPInfo.
func snake(name string) string {
	var out []byte
	upper := func(i int) bool { return i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	for i := range len(name) {
		if !upper(i) {
			out = append(out, name[i])
			continue
		}
		if i > 0 && (!upper(i-1) || i+1 < len(name) && !upper(i+1)) {
			out = append(out, '_')
		}
		out = append(out, name[i]+'a'-'A')
	}
	return string(out)
}

// ready makes the maps.
func (s *Set) ready() *Set {
	s.once.Do(func() {
		s.types, s.names = map[string]reflect.Type{}, map[reflect.Type]string{}
		for _, a := range s.added {
			if a.name == "" {
				a.name = snake(a.of.Name())
			}
			if _, used := s.types[a.name]; used || s.names[a.of] != "" {
				panic(fmt.Sprintf("kind: %s (%v) is registered twice", a.name, a.of))
			}
			s.types[a.name], s.names[a.of] = a.of, a.name
		}
	})
	return s
}

// Name returns the name of the value's type. Empty: the type is not in the set.
func (s *Set) Name(value any) string {
	if u, is := value.(Unknown); is {
		return u.Name
	}
	return s.ready().names[reflect.TypeOf(value)]
}

// Zero returns the zero value of each type, sorted by name.
func (s *Set) Zero() (list []any) {
	for _, name := range slices.Sorted(maps.Keys(s.ready().types)) {
		list = append(list, reflect.Zero(s.types[name]).Interface())
	}
	return list
}

// Marshal encodes a value under its name. If host is not empty, it becomes another member of the
// object.
func (s *Set) Marshal(host string, value any) ([]byte, error) {
	name := s.Name(value)
	if name == "" {
		return nil, fmt.Errorf("%T is not a registered type", value)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteByte('{')
	if host != "" {
		fmt.Fprintf(&out, `"host":%s,`, quoted(host))
	}
	fmt.Fprintf(&out, "%s:%s}", quoted(name), data)
	return out.Bytes(), nil
}

func quoted(text string) []byte {
	data, _ := json.Marshal(text) // of a string it does not fail
	return data
}

// Unmarshal decodes what Marshal has encoded. A value whose name is not in the set is returned as
// Unknown.
func (s *Set) Unmarshal(data []byte) (host string, value any, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return "", nil, err
	}
	if text, has := members["host"]; has {
		if err := json.Unmarshal(text, &host); err != nil {
			return "", nil, err
		}
		delete(members, "host")
	}
	if len(members) != 1 {
		return "", nil, fmt.Errorf("expected one value, got %d", len(members))
	}
	for name, text := range members {
		value, err = Decode(s.ready().types[name], name, text)
	}
	return host, value, err
}

// Decode decodes a value of type t. If t is nil, it returns an Unknown.
func Decode(t reflect.Type, name string, text []byte) (any, error) {
	if t == nil {
		return Unknown{Name: name, JSON: string(text)}, nil
	}
	v := reflect.New(t)
	if err := json.Unmarshal(text, v.Interface()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v.Elem().Interface(), nil
}
