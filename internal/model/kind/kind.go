// Package kind writes values of several types as JSON, each under the name of its type, and
// reads them again: {"counter": {"name": "rx_dropped"}}. The types are registered, while
// variables are initialised, by the files that define them.
package kind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Set is types with their names.
type Set struct {
	types map[string]reflect.Type
	names map[reflect.Type]string
}

// Unknown is a value whose name this version does not know, as it came. It is written again as
// it was read.
type Unknown struct {
	Name string
	JSON string
}

// MarshalJSON writes the value without its name.
func (u Unknown) MarshalJSON() ([]byte, error) { return []byte(u.JSON), nil }

// Add registers a type. It panics if the name or the type has been registered before.
func Add[T any](s *Set, name string) struct{} {
	t := reflect.TypeFor[T]()
	if s.types == nil {
		s.types, s.names = map[string]reflect.Type{}, map[reflect.Type]string{}
	}
	if _, used := s.types[name]; used || s.names[t] != "" {
		panic(fmt.Sprintf("kind: %s (%v) is registered twice", name, t))
	}
	s.types[name], s.names[t] = t, name
	return struct{}{}
}

// Name is the name of a value's type; empty: it is not of the set.
func (s *Set) Name(value any) string {
	if u, is := value.(Unknown); is {
		return u.Name
	}
	return s.names[reflect.TypeOf(value)]
}

// Zero are the zero values of the types, by name.
func (s *Set) Zero() (list []any) {
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		list = append(list, reflect.Zero(s.types[name]).Interface())
	}
	return list
}

// Marshal writes a value under its name. Host, where it is not empty, is a member beside it.
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

// Unmarshal reads what Marshal wrote. A value of a name that is not of the set is Unknown.
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
		value, err = Decode(s.types[name], name, text)
	}
	return host, value, err
}

// Decode reads a value of a type; nil: Unknown.
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
