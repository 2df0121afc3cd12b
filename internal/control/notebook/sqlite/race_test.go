//go:build race

package sqlite

const race = true
