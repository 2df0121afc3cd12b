package pasted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// samplesText returns the samples, repeated to a size in bytes.
func samplesText(b *testing.B, size int) string {
	b.Helper()
	names, _ := filepath.Glob("testdata/samples/*.txt")
	var s strings.Builder
	for s.Len() < size {
		for _, n := range names {
			data, _ := os.ReadFile(n)
			s.Write(data)
			s.WriteString("\n")
		}
	}
	return s.String()
}

// BenchmarkParse: texts of which most lines are read, and texts of which none is.
func BenchmarkParse(b *testing.B) {
	prose := strings.Repeat("the quick brown fox jumps over the lazy dog and 1234 other words: it is so\n", 8000)
	log := strings.Repeat("2026-11-29 10:11:12,123 INFO  [worker-7] com.example.Service - request 77 took 12 ms\n", 8000)
	for name, text := range map[string]string{"samples": samplesText(b, 1<<19), "prose": prose, "log": log} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = Parse(text)
			}
		})
	}
}
