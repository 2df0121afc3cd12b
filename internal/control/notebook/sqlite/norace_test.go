//go:build !race

package sqlite

// race: the race detector is on, which makes SQLite ten times as slow.
const race = false
