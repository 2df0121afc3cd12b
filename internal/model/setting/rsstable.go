package setting

import (
	"fmt"
	"strconv"
	"strings"
)

// mostQueues and mostEntries limit an RSS table. Drivers have up to some thousand entries.
const mostQueues, mostEntries = 4096, 8192

// RSSTable returns the indirection table of size entries that text describes: "equal 4", "weight 6
// 2" (ethtool(8), -X), or the queue of each entry, in which 0*64 stands for 64 entries of queue 0.
func RSSTable(text string, size int) ([]uint32, error) {
	words := strings.Fields(text)
	wrong := fmt.Errorf(
		"%.60q is not an indirection table: expected equal N, weight N N … or the queue of each of %d entries",
		text, size)
	if len(words) < 1 || size < 1 || size > mostEntries {
		return nil, wrong
	}
	table := make([]uint32, 0, size)
	switch words[0] {
	case "equal":
		n := uint64(0)
		if len(words) == 2 {
			n, _ = strconv.ParseUint(words[1], 10, 32)
		}
		if n < 1 || n > mostQueues {
			return nil, wrong
		}
		for i := range size {
			table = append(table, uint32(uint64(i)%n))
		}
	case "weight":
		weights, sum := []uint64{}, uint64(0)
		for _, word := range words[1:] {
			n, err := strconv.ParseUint(word, 10, 16)
			if err != nil || len(weights) >= mostQueues {
				return nil, wrong
			}
			weights, sum = append(weights, n), sum+n
		}
		if sum == 0 {
			return nil, wrong
		}
		// Queue q gets the entries up to its share of the sum, like in ethtool(8).
		partial, queue := uint64(0), -1
		for i := range uint64(size) {
			for i >= uint64(size)*partial/sum {
				queue++
				partial += weights[queue]
			}
			table = append(table, uint32(queue))
		}
	default:
		for _, word := range words {
			queue, times, repeated := strings.Cut(word, "*")
			if !repeated {
				times = "1"
			}
			q, err := strconv.ParseUint(queue, 10, 32)
			n, err2 := strconv.ParseUint(times, 10, 32)
			if err != nil || err2 != nil || q >= mostQueues || n > uint64(size-len(table)) {
				return nil, wrong
			}
			for range n {
				table = append(table, uint32(q))
			}
		}
		if len(table) != size {
			return nil, wrong
		}
	}
	return table, nil
}

// RSSText formats a table as text that RSSTable accepts: "equal 4", or "0*64 1*64".
func RSSText(table []uint32) string {
	most := uint32(0)
	for _, q := range table {
		most = max(most, q)
	}
	equal := true
	for i, q := range table {
		equal = equal && q == uint32(i)%(most+1)
	}
	if equal {
		return fmt.Sprintf("equal %d", most+1)
	}
	var words []string
	for i := 0; i < len(table); {
		j := i
		for j < len(table) && table[j] == table[i] {
			j++
		}
		if word := strconv.FormatUint(uint64(table[i]), 10); j > i+1 {
			words = append(words, fmt.Sprintf("%s*%d", word, j-i))
		} else {
			words = append(words, word)
		}
		i = j
	}
	return strings.Join(words, " ")
}

// isTable reports whether text can be a table of some size.
func isTable(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	if words[0] == "equal" || words[0] == "weight" {
		_, err := RSSTable(text, 1)
		return err == nil
	}
	for _, word := range words {
		queue, times, repeated := strings.Cut(word, "*")
		if !isNumber(queue) || repeated && !isNumber(times) {
			return false
		}
	}
	return true
}
