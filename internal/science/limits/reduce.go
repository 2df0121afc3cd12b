package limits

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// reduced is a programme in which columns of one colour are one variable, and rows of one colour
// one row: for example those of the hosts of one leaf. Colour refinement gives one colour to what
// is interchangeable. The maximum is the same (Grohe et al., Dimension Reduction via Colour
// Refinement, 2014): a variable is the sum of its columns, each of which has an equal part.
type reduced struct {
	terms           [][]term // the terms of each row of the programme, by its columns
	rowOf, columnOf []int    // the colour of each row and column of the programme
	rows, columns   []int    // how many rows and columns each colour stands for
}

// term is a coefficient, and the row or column that it belongs to.
type term struct {
	at    int
	value float64
}

func reduce(rows []row, columns int) reduced {
	byRow, byColumn := make([][]term, len(rows)), make([][]term, columns)
	colours := make([]int, len(rows))
	first := map[[2]float64]int{}
	for i, r := range rows {
		for _, j := range slices.Sorted(maps.Keys(r.terms)) {
			v := r.terms[j]
			byRow[i], byColumn[j] = append(byRow[i], term{j, v}), append(byColumn[j], term{i, v})
		}
		key := [2]float64{r.most, float64(r.place)}
		if _, ok := first[key]; !ok {
			first[key] = len(first)
		}
		colours[i] = first[key]
	}
	rowOf, columnOf := colours, make([]int, columns)
	for n := 0; ; {
		columnOf = refine(columnOf, byColumn, rowOf)
		rowOf = refine(rowOf, byRow, columnOf)
		now := len(sizes(rowOf)) + len(sizes(columnOf))
		if now == n {
			break
		}
		n = now
	}
	return reduced{terms: byRow, rowOf: rowOf, columnOf: columnOf, rows: sizes(rowOf), columns: sizes(columnOf)}
}

// cells returns the size of the tableau.
func (q reduced) cells() int { return len(q.rows) * len(q.columns) }

// tableau returns the coefficients and right-hand sides of the reduced rows.
func (q reduced) tableau(rows []row) (a [][]float64, b []float64) {
	a, b = make([][]float64, len(q.rows)), make([]float64, len(q.rows))
	for i, r := range q.rowOf {
		if a[r] != nil {
			continue
		}
		sums := make([]float64, len(q.columns))
		for _, t := range q.terms[i] {
			sums[q.columnOf[t.at]] += t.value
		}
		for j := range sums {
			sums[j] /= float64(q.columns[j])
		}
		a[r], b[r] = sums, rows[i].most
	}
	return a, b
}

// prices returns the prices of the programme's rows, from those of the reduced rows.
func (q reduced) prices(of []float64) []float64 {
	list := make([]float64, len(q.rowOf))
	for i, r := range q.rowOf {
		list[i] = of[r] / float64(q.rows[r])
	}
	return list
}

// refine splits colours by the terms: elements keep a common colour if they have equal coefficients
// in rows or columns of equal colours.
func refine(colours []int, terms [][]term, others []int) []int {
	refined, known := make([]int, len(colours)), map[string]int{}
	for i, list := range terms {
		seen := make([]term, len(list))
		for k, t := range list {
			seen[k] = term{others[t.at], t.value}
		}
		slices.SortFunc(seen, func(a, b term) int { return cmp.Or(a.at-b.at, cmp.Compare(a.value, b.value)) })
		key := binary.AppendVarint(nil, int64(colours[i]))
		for _, t := range seen {
			key = binary.BigEndian.AppendUint64(binary.AppendVarint(key, int64(t.at)), math.Float64bits(t.value))
		}
		if _, ok := known[string(key)]; !ok {
			known[string(key)] = len(known)
		}
		refined[i] = known[string(key)]
	}
	return refined
}

// sizes counts the elements of each colour.
func sizes(colours []int) (list []int) {
	for _, c := range colours {
		list = append(list, make([]int, max(0, c+1-len(list)))...)
		list[c]++
	}
	return list
}
