package figure

import "math"

// Smooth returns a curve through points in ascending order of x. It does not overshoot, and is
// monotone between the points: a monotone cubic (Fritsch and Carlson 1980).
func Smooth(points []Point) []Point {
	n := len(points)
	if n < 3 {
		return points
	}
	secant, slope := make([]float64, n-1), make([]float64, n)
	for i := range secant {
		secant[i] = (points[i+1].Y - points[i].Y) / (points[i+1].X - points[i].X)
	}
	slope[0], slope[n-1] = secant[0], secant[n-2]
	for i := 1; i < n-1; i++ {
		if secant[i-1]*secant[i] > 0 {
			slope[i] = (secant[i-1] + secant[i]) / 2
		}
	}
	for i, s := range secant {
		if s == 0 {
			slope[i], slope[i+1] = 0, 0
			continue
		}
		a, b := slope[i]/s, slope[i+1]/s
		if far := math.Hypot(a, b); far > 3 {
			slope[i], slope[i+1] = 3*a/far*s, 3*b/far*s
		}
	}
	const steps = 12
	curve := []Point{points[0]}
	for i := range secant {
		p, q := points[i], points[i+1]
		third := (q.X - p.X) / 3
		for k := 1; k <= steps; k++ {
			curve = append(curve, onCubic(p, Point{p.X + third, p.Y + slope[i]*third},
				Point{q.X - third, q.Y - slope[i+1]*third}, q, float64(k)/steps))
		}
	}
	return curve
}
