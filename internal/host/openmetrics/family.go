package openmetrics

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"linerate/internal/model/plain"
)

// family is one metric: a name, with one series per combination of labels.
type family struct {
	name, help string
	kind       prometheus.ValueType
	labels     []string
	once       sync.Once
	described  *prometheus.Desc // see desc
}

// desc returns how Prometheus identifies the family. The first call makes it.
func (m *family) desc() *prometheus.Desc {
	m.once.Do(func() { m.described = prometheus.NewDesc(m.name, m.help, m.labels, nil) })
	return m.described
}

// families are the metrics of one collector, in the order of the document's table.
type families []*family

const namespace = "linerate_"

func (f *families) add(kind prometheus.ValueType, name, help string, labels []string) *family {
	m := &family{name: namespace + name, help: help, kind: kind, labels: labels}
	*f = append(*f, m)
	return m
}

func (f *families) counter(name, help string, labels ...string) *family {
	return f.add(prometheus.CounterValue, name+"_total", help, labels)
}

func (f *families) gauge(name, help string, labels ...string) *family {
	return f.add(prometheus.GaugeValue, name, help, labels)
}

func (f families) describe(to chan<- *prometheus.Desc) {
	for _, m := range f {
		to <- m.desc()
	}
}

// send sends the value of one series.
func (m *family) send(to chan<- prometheus.Metric, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(m.desc(), m.kind, value, labels...)
}

// label converts a kernel name to a label value, which must be UTF-8.
func label(name string) string {
	if utf8.ValidString(name) && plain.Line(name) == name {
		return name
	}
	return strings.Trim(strconv.QuoteToASCII(name), `"`)
}

// snake converts the name of a kernel counter to Prometheus style: TcpExt.TCPBacklogDrop becomes
// tcpext_tcp_backlog_drop, and TcpExt.TCPMD5Failure tcpext_tcp_md5_failure.
func snake(name string) string {
	protocol, counter, _ := strings.Cut(name, ".")
	if rest, isTCP := strings.CutPrefix(counter, "TCP"); isTCP {
		protocol, counter = protocol+"_tcp", rest
	}
	out, runes := []rune(strings.ToLower(protocol)+"_"), []rune(counter)
	for i, r := range runes {
		begins := unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) &&
			unicode.IsLower(runes[i+1]))
		if begins {
			out = append(out, '_')
		}
		out = append(out, unicode.ToLower(r))
	}
	return string(out)
}

// atMost returns the first elements of a list, and how many were omitted.
func atMost[T any](list []T, most int) (kept []T, omitted int) {
	kept = list[:min(len(list), most)]
	return kept, len(list) - len(kept)
}
