// Package index finds the elements of a list by a key, in a time that does not grow with the list. Rules that hold
// each interface against each queue or counter use it: a snapshot from elsewhere may have many thousands of each.
package index

// First returns the position of the first element of a list with each key.
func First[K comparable, T any](list []T, key func(T) K) map[K]int {
	at := make(map[K]int, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		at[key(list[i])] = i
	}
	return at
}

// Groups returns the positions of all elements with each key, in the order of the list.
func Groups[K comparable, T any](list []T, key func(T) K) map[K][]int {
	at := make(map[K][]int, len(list))
	for i, element := range list {
		at[key(element)] = append(at[key(element)], i)
	}
	return at
}
