package plot

// box is a rectangle in pixels; x and y are its upper left corner.
type box struct{ x, y, w, h float64 }

func (b box) meets(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// board remembers where something is drawn, so that labels do not lie on each other.
type board struct{ taken []box }

// take marks the boxes if all of them are free.
func (b *board) take(boxes ...box) bool {
	for _, n := range boxes {
		for _, t := range b.taken {
			if n.meets(t) {
				return false
			}
		}
	}
	b.taken = append(b.taken, boxes...)
	return true
}
