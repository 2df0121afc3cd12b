// Package lists makes lists and sums from the elements of lists, in their order.
package lists

// Map returns f of each element. Nil: the list is empty.
func Map[T, U any](list []T, f func(T) U) (made []U) {
	if len(list) > 0 {
		made = make([]U, len(list))
	}
	for i, element := range list {
		made[i] = f(element)
	}
	return made
}

// Flat returns the elements of the lists that f returns of each element. Nil: there are none.
func Flat[T, U any](list []T, f func(T) []U) (made []U) {
	for _, element := range list {
		made = append(made, f(element)...)
	}
	return made
}

// Where returns the elements of which is returns true. Nil: there are none.
func Where[T any](list []T, is func(T) bool) (found []T) {
	for _, element := range list {
		if is(element) {
			found = append(found, element)
		}
	}
	return found
}

// Count returns the number of elements of which is returns true.
func Count[T any](list []T, is func(T) bool) (n int) {
	for _, element := range list {
		if is(element) {
			n++
		}
	}
	return n
}

// Sum returns the sum of f of each element.
func Sum[T any, N ~int | ~int64 | ~uint64 | ~float64](list []T, f func(T) N) (sum N) {
	for _, element := range list {
		sum += f(element)
	}
	return sum
}

// Put stores a value in a map, which it makes if it is nil.
func Put[K comparable, V any](in *map[K]V, key K, value V) {
	if *in == nil {
		*in = map[K]V{}
	}
	(*in)[key] = value
}
