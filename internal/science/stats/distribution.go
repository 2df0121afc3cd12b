package stats

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"linerate/internal/model/record"
)

// A histogram of times holds nanoseconds from 1 to one minute, with three significant digits.
// Longer times count as one minute.
const (
	longestNs         = 60e9
	significantDigits = 3
)

// NewHistogram returns an empty histogram of times in nanoseconds. Recording a value allocates
// nothing and takes no lock; only one goroutine at a time may record.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longestNs, significantDigits)
}

// Record adds a time in nanoseconds to a histogram.
func Record(h *hdrhistogram.Histogram, ns int64) {
	_ = h.RecordValue(min(max(ns, 1), longestNs)) // the value is within the histogram's bounds
}

// Distribution converts a histogram to its form in a record; nil if it is empty.
func Distribution(h *hdrhistogram.Histogram) (*record.Distribution, error) {
	if h.TotalCount() == 0 {
		return nil, nil
	}
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encoding a histogram of %d times: %w", h.TotalCount(), err)
	}
	at := func(percent float64) float64 { return float64(h.ValueAtPercentile(percent)) / 1e3 }
	return &record.Distribution{
		Count: h.TotalCount(), MinUs: float64(h.Min()) / 1e3, MeanUs: h.Mean() / 1e3,
		P50Us: at(50), P90Us: at(90), P99Us: at(99), P999Us: at(99.9), P9999Us: at(99.99),
		MaxUs:     float64(h.Max()) / 1e3,
		Histogram: encoded,
	}, nil
}

// Together returns the distribution of all times of several distributions; nil if there are none.
// The error says which histogram cannot be read.
func Together(parts ...*record.Distribution) (*record.Distribution, error) {
	var sum *hdrhistogram.Histogram
	for _, part := range parts {
		if part == nil {
			continue
		}
		if sum == nil {
			sum = NewHistogram()
		}
		h, err := hdrhistogram.Decode(part.Histogram)
		if err != nil {
			return nil, fmt.Errorf("reading a histogram of %d times: %w", part.Count, err)
		}
		sum.Merge(h)
	}
	if sum == nil {
		return nil, nil
	}
	return Distribution(sum)
}
