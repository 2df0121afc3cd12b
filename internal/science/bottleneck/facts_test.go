package bottleneck

import (
	"encoding/json"
	"strings"

	"linerate/internal/model/fact"
)

// said are facts in JSON.
func said(list []fact.Fact) string {
	text, err := json.Marshal(list)
	if err != nil || list == nil {
		return ""
	}
	return string(text)
}

// shows reports whether facts, in JSON, contain a text.
func shows(list []fact.Fact, text string) bool {
	return strings.Contains(said(list), text)
}
