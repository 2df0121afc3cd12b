// Package deep copies values with everything that they point to, for callers that change some of it.
package deep

import "reflect"

// Copy returns a copy of a value. It calls change with the copy of each value in it, keys of maps too, before those
// that the value contains; where change returns true, it goes no deeper. Unexported fields are copied as they are.
func Copy(v reflect.Value, change func(reflect.Value) (done bool)) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	if change(to) {
		return to
	}
	switch v = to; v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			to.Set(Copy(v.Elem(), change))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			at := reflect.New(v.Type().Elem())
			at.Elem().Set(Copy(v.Elem(), change))
			to.Set(at)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				to.Field(i).Set(Copy(v.Field(i), change))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				list.Index(i).Set(Copy(v.Index(i), change))
			}
			to.Set(list)
		}
	case reflect.Array:
		for i := range v.Len() {
			to.Index(i).Set(Copy(v.Index(i), change))
		}
	case reflect.Map:
		if !v.IsNil() {
			all := reflect.MakeMapWithSize(v.Type(), v.Len())
			for key, value := range v.Seq2() {
				all.SetMapIndex(Copy(key, change), Copy(value, change))
			}
			to.Set(all)
		}
	}
	return to
}
