package limits

// maximize solves: maximise Σx subject to a·x ≤ b, x ≥ 0, where b ≥ 0. It returns the maximum and
// the shadow price of each row, with which Σ price·b = maximum. ok is false if the sum is unbounded
// or takes more than the given number of pivots.
//
// It is the textbook simplex on a condensed tableau. As b ≥ 0, the origin is feasible and no first
// phase is needed. The variable that adds most enters the basis. After a pivot without progress it
// is the first one by Bland's rule, which ends every degenerate problem. Flows that share
// interfaces often make degenerate problems, on which gonum's general solver gives up.
func maximize(a [][]float64, b []float64, n, pivots int) (best float64, price []float64, ok bool) {
	const tiny = 1e-9
	m := len(b)
	t := make([][]float64, m+1) // last row: objective; last column: right-hand side
	for i := range m {
		t[i] = append(append([]float64(nil), a[i]...), b[i])
	}
	t[m] = make([]float64, n+1)
	for j := range n {
		t[m][j] = -1
	}
	// row and column name the variable of each row and column: 0…n-1 are flows, the rest slacks.
	row, column := make([]int, m), make([]int, n)
	for i := range row {
		row[i] = n + i
	}
	for j := range column {
		column[j] = j
	}
	// Bland's rule cannot cycle with exact numbers. With rounded ones the bound turns an endless
	// problem into an unknown limit.
	bland := false
	for range pivots {
		entering := -1
		for j := range n {
			if t[m][j] < -tiny && (entering < 0 || bland && column[j] < column[entering] ||
				!bland && t[m][j] < t[m][entering]) {
				entering = j
			}
		}
		if entering < 0 {
			price = make([]float64, m)
			for j, variable := range column {
				if variable >= n {
					price[variable-n] = t[m][j]
				}
			}
			return t[m][n], price, true
		}
		leaving := -1
		for i := range m {
			if t[i][entering] <= tiny {
				continue
			}
			if leaving < 0 {
				leaving = i
				continue
			}
			mine, theirs := t[i][n]*t[leaving][entering], t[leaving][n]*t[i][entering]
			if mine < theirs || (mine == theirs && row[i] < row[leaving]) {
				leaving = i
			}
		}
		if leaving < 0 {
			return 0, nil, false
		}
		before := t[m][n]
		pivot(t, leaving, entering)
		bland = t[m][n] <= before
		row[leaving], column[entering] = column[entering], row[leaving]
	}
	return 0, nil, false
}

// pivot exchanges the variable of row r with that of column c.
func pivot(t [][]float64, r, c int) {
	p := t[r][c]
	for j := range t[r] {
		if j != c {
			t[r][j] /= p
		}
	}
	for i := range t {
		if i == r || t[i][c] == 0 {
			continue
		}
		factor := t[i][c]
		for j := range t[i] {
			if j != c {
				t[i][j] -= factor * t[r][j]
			}
		}
		t[i][c] = -factor / p
	}
	t[r][c] = 1 / p
}
