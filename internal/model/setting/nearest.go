package setting

import (
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/source"
)

// NearestKey returns the key in the directory of key whose last part is most similar to that of
// key. Empty: none is similar. The common directory does not count as similarity.
func NearestKey(key string, beside []string) string {
	dir := key[:strings.LastIndex(key, ".")+1]
	names := lists.Map(beside, func(k string) string { return strings.TrimPrefix(k, dir) })
	if name := source.Nearest(key[len(dir):], names); name != "" {
		return dir + name
	}
	return ""
}
