package wording

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"linerate/internal/model/lists"
)

// table has texts by what they are about. A program that starts, such as the agent of a host, needs none of them,
// so that a table is filled by its first reader.
type table[K comparable, V any] struct{ rows map[K]V }

var (
	files   []func()
	readAll = sync.OnceFunc(func() {
		for _, add := range files {
			add()
		}
	})
)

// later has the tables filled by add, too, once a text is needed.
func later(add func()) struct{} {
	files = append(files, add)
	return struct{}{}
}

// set adds a row. It panics if there is one.
func (t *table[K, V]) set(key K, row V) {
	if _, has := t.rows[key]; has {
		panic(fmt.Sprintf("wording: %v has words twice", key))
	}
	lists.Put(&t.rows, key, row)
}

// of returns a row. False: there is none.
func (t *table[K, V]) of(key K) (row V, has bool) {
	readAll()
	row, has = t.rows[key]
	return row, has
}

// keys returns what there are rows about, in no order.
func (t *table[K, V]) keys() []K {
	readAll()
	return slices.Collect(maps.Keys(t.rows))
}
