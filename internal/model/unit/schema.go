package unit

// JSONSchema describes how each quantity is written, to editors. A plain number
// is a number to YAML too, so both types are named where both are read.

func (BitRate) JSONSchema() map[string]any {
	return map[string]any{
		"type":     "string",
		"pattern":  `^ *[0-9.eE+]+ *[kKmMgGtT]?([bB][iI][tT](/s)?|bps) *$`,
		"examples": []string{"100mbit", "1gbit", "2.5gbit", "10gbit"},
	}
}

func (Bytes) JSONSchema() map[string]any {
	return map[string]any{
		"type":     []string{"string", "integer"},
		"pattern":  `^ *[0-9.eE+]+ *([kKmMgG]?i?[bB])? *$`,
		"examples": []string{"64KiB", "256KiB", "1MiB", "1MB"},
	}
}

func (Duration) JSONSchema() map[string]any {
	return map[string]any{
		"type":     "string",
		"pattern":  `^ *([0-9.]+ *(ns|us|µs|ms|s|m|h) *)+$`,
		"examples": []string{"25ms", "1s", "2m"},
	}
}

func (Depth) JSONSchema() map[string]any {
	return map[string]any{
		"type":     []string{"string", "integer"},
		"pattern":  `^ *([0-9.eE+]+ *([kKmMgG]?i?[bB])?|([0-9.]+ *(ns|us|µs|ms|s|m|h) *)+) *$`,
		"examples": []string{"64KiB", "1MB", "50ms"},
	}
}

func (Ratio) JSONSchema() map[string]any {
	return map[string]any{
		"type":     []string{"string", "number"},
		"pattern":  `^ *[0-9.eE+-]+ *%? *$`,
		"examples": []string{"2%", "0.1%", "0.02"},
	}
}
