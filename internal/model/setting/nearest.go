package setting

import (
	"strings"

	"linerate/internal/model/source"
)

// NearestKey returns the key in the directory of key whose last part is most similar to that of
// key. Empty: none is similar. The common directory does not count as similarity.
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
