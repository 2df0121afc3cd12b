package figure

import "testing"

// TestSmooth: the curve goes through every point and stays between its neighbours,
// on a flat stretch and at a turn as well.
func TestSmooth(t *testing.T) {
	points := []Point{{1, 5}, {2, 5}, {4, 5.1}, {8, 9}, {16, 3}, {32, 3}}
	curve := Smooth(points)
	met, k := 0, 0
	for i, c := range curve {
		if i > 0 && c.X <= curve[i-1].X {
			t.Fatalf("the curve goes back at %v", c)
		}
		for k+2 < len(points) && c.X > points[k+1].X {
			k++
		}
		low, high := min(points[k].Y, points[k+1].Y), max(points[k].Y, points[k+1].Y)
		if c.Y < low-1e-9 || c.Y > high+1e-9 {
			t.Errorf("%v is beyond %v and %v", c, points[k], points[k+1])
		}
		if met < len(points) && abs(c.X-points[met].X) < 1e-9 && abs(c.Y-points[met].Y) < 1e-9 {
			met++
		}
	}
	if met != len(points) {
		t.Errorf("the curve meets %d of %d points", met, len(points))
	}
	if two := Smooth(points[:2]); len(two) != 2 {
		t.Errorf("two points make %v", two)
	}
}

func abs(v float64) float64 { return max(v, -v) }
