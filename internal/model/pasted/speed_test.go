package pasted

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// samplesText returns the samples, repeated to a size in bytes.
func samplesText(t testing.TB, size int) string {
	t.Helper()
	names, _ := filepath.Glob("testdata/samples/*.txt")
	var s strings.Builder
	for s.Len() < size {
		for _, n := range names {
			data, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			s.Write(data)
			s.WriteString("\n")
		}
	}
	return s.String()
}

// largeTexts returns texts as archives and logs have them, each of a size in bytes: logs of programs, a list of
// processes and prose, of which nothing is used, and the samples.
func largeTexts(t testing.TB, size int) map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the quick brown fox jumps over lazy dogs and request response error timeout 12 4711 0.5")
	phrase := func(n int) string {
		var list []string
		for range n {
			list = append(list, words[random.IntN(len(words))])
		}
		return strings.Join(list, " ")
	}
	two := func() int { return random.IntN(60) }
	texts := map[string]string{"samples": samplesText(t, size)}
	for name, line := range map[string]func() string{
		"syslog": func() string {
			return fmt.Sprintf("Nov 29 10:%02d:%02d web1 app%d[%d]: %s", two(), two(), two(), two(), phrase(9))
		},
		"journal": func() string {
			return fmt.Sprintf("2026-11-29T10:%02d:%02d.123456+01:00 web1 systemd[1]: %s", two(), two(), phrase(8))
		},
		"program log": func() string {
			return fmt.Sprintf("2026-11-29 10:%02d:%02d,123 INFO  [worker-%d] com.example.Service - %s", two(), two(),
				two(), phrase(8))
		},
		"processes": func() string {
			return fmt.Sprintf("root %9d  0.0  0.1 169836 13100 ?        Ss   Nov28   0:%02d /usr/bin/app --port=%d %s",
				two(), two(), two(), phrase(2))
		},
		"prose": func() string { return phrase(6 + random.IntN(10)) },
	} {
		var s strings.Builder
		for s.Len() < size {
			s.WriteString(line())
			s.WriteByte('\n')
		}
		texts[name] = s.String()
	}
	return texts
}

// cpuTime returns the CPU time that the process has used in user mode.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano())
}

// BenchmarkParse reports bytes per second of time and of CPU time.
func BenchmarkParse(b *testing.B) {
	for name, text := range largeTexts(b, 4<<20) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			began, n := cpuTime(), 0
			for b.Loop() {
				_, _ = Parse(text)
				n++
			}
			b.ReportMetric(float64(n*len(text))/1e6/(cpuTime()-began).Seconds(), "MB/cpu-s")
		})
	}
}

// TestSpeed: a line of which nothing is used takes no more CPU time than splitting it into words some times:
// without the refusal of lines by their first bytes and words it is several times as much.
func TestSpeed(t *testing.T) {
	const most = 80
	for name, text := range largeTexts(t, 1<<20) {
		if name == "samples" {
			continue
		}
		least := func(f func()) time.Duration {
			var took []time.Duration
			for range 3 {
				began := cpuTime()
				f()
				took = append(took, cpuTime()-began)
			}
			return slices.Min(took)
		}
		split := least(func() {
			for range 10 {
				for l := range strings.Lines(text) {
					_ = strings.Fields(l)
				}
			}
		}) / 10
		if parse := least(func() { _, _ = Parse(text) }); parse > most*split {
			t.Errorf("%s: %v, %.0f times what splitting into words takes", name, parse, float64(parse)/float64(split))
		} else {
			t.Logf("%s: %.1f times what splitting into words takes", name, float64(parse)/float64(split))
		}
	}
}

// TestMemory: a large text takes a bounded amount of memory beside itself, also if it is only ends of lines
// or only commands.
func TestMemory(t *testing.T) {
	const most = 48 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // so that what is garbage hardly counts
	for name, of := range map[string]func() string{
		"mixed": func() string {
			var s strings.Builder
			for _, text := range largeTexts(t, 1<<20) {
				s.WriteString(text)
			}
			return strings.Repeat(s.String(), LargestText/8/s.Len())
		},
		"ends of lines": func() string { return strings.Repeat("\n", LargestText/4) },
		"commands":      func() string { return strings.Repeat("$ ip a\n", 50_000) },
	} {
		text := of()
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		done, peak := newPeak()
		_, _ = Parse(text)
		close(done)
		if took := int64(<-peak) - int64(before.HeapAlloc); took > most {
			t.Errorf("%s: %d MiB beside the text", name, took>>20)
		} else {
			t.Logf("%s: %d MiB beside the text", name, took>>20)
		}
		runtime.KeepAlive(text)
	}
}

// newPeak watches how much memory objects take until done is closed, and then sends the most.
func newPeak() (done chan struct{}, peak chan uint64) {
	done, peak = make(chan struct{}), make(chan uint64)
	go func() {
		for highest := uint64(0); ; {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			highest = max(highest, now.HeapAlloc)
			select {
			case <-done:
				peak <- highest
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return done, peak
}
