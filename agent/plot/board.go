package plot

// box is a rectangle in pixels; x and y are its upper left corner.
type box struct{ x, y, w, h float64 }

func (b box) meets(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// occupied remembers where something is drawn, so that labels do not lie on each other.
type occupied struct{ boxes []box }

// occupy marks the boxes if all of them are free.
func (b *occupied) occupy(boxes ...box) bool {
	for _, n := range boxes {
		for _, t := range b.boxes {
			if n.meets(t) {
				return false
			}
		}
	}
	b.boxes = append(b.boxes, boxes...)
	return true
}
