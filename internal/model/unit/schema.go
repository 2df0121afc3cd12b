package unit

// Schema returns the JSON Schema of the spelling of a value: its JSON types (one or several), its
// pattern, and examples.
func Schema(types any, pattern string, examples ...string) map[string]any {
	return map[string]any{"type": types, "pattern": pattern, "examples": examples}
}

// textOrInteger is for values whose plain numbers are integers in YAML.
var textOrInteger = []string{"string", "integer"}

var textOrNumber = []string{"string", "number"}

func (BitRate) JSONSchema() map[string]any {
	return Schema("string", `^ *[0-9.eE+]+ *([kKmMgGtT]|[kKmMgGtT]?i?([bB][iI][tT]s?(/s|/sec)?|bps)) *$`, "100M",
		"100mbit", "1gbit", "2.5gbit", "10gbit")
}

func (Bytes) JSONSchema() map[string]any {
	return Schema(textOrInteger, `^ *[0-9.eE+]+ *([kKmMgGtT]|[kKmMgGtT]?i?([bB]|[bB]ytes?))? *$`, "64KiB", "256KiB",
		"1MiB", "1MB")
}

func (Duration) JSONSchema() map[string]any {
	return Schema(textOrNumber, `^ *([0-9.]+|([0-9.]+ *(ns|us|µs|ms|s|m|h|[num]?secs?|mins?) *)+) *$`, "25ms",
		"1s", "2m")
}

func (Depth) JSONSchema() map[string]any {
	return Schema(textOrInteger,
		`^ *([0-9.eE+]+ *([kKmMgGtT]|[kKmMgGtT]?i?([bB]|[bB]ytes?))?|([0-9.]+ *(ns|us|µs|ms|s|m|h) *)+) *$`, "64KiB",
		"1MB", "50ms")
}

func (Ratio) JSONSchema() map[string]any {
	return Schema(textOrNumber, `^ *([0-9.eE+-]+ *%|[0.]+) *$`, "2%", "0.1%")
}
