package setting

import (
	"strings"

	"linerate/internal/model/source"
)

// NearestKey is the key among those of the same directory whose name in it is most like
// that of key; empty: none is like it. What they have in common, their directory, does not
// make them alike.
func NearestKey(key string, beside []string) string {
	dir := key[:strings.LastIndex(key, ".")+1]
	var names []string
	for _, k := range beside {
		names = append(names, strings.TrimPrefix(k, dir))
	}
	if name := source.Nearest(key[len(dir):], names); name != "" {
		return dir + name
	}
	return ""
}
