package plot

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Colours that people with any sight of colours, and a grey printer, tell apart.
const (
	ink      = "#1a1a1a"
	middle   = "#6b6b6b"
	blue     = "#0072b2"
	red      = "#b34700"                                             // of what a person should look at
	halo     = `stroke="#fff" stroke-width="3" paint-order="stroke"` // of words that lie on lines
	lineSize = 13.0                                                  // height of a line of text
	fontSize = 11.0
)

// canvas is an SVG that is being written. It never fails: the text is in memory.
type canvas struct{ bytes.Buffer }

// attributes are pairs of name and value, both ours, so that nothing in them needs escaping.
func (c *canvas) attributes(more string) {
	if more != "" {
		c.WriteString(" " + more)
	}
}

func (c *canvas) line(x1, y1, x2, y2 float64, more string) {
	fmt.Fprintf(c, `<path d="M%s %sL%s %s" fill="none"`, px(x1), px(y1), px(x2), px(y2))
	c.attributes(more)
	c.WriteString("/>\n")
}

func (c *canvas) rect(b box, more, title string) {
	fmt.Fprintf(c, `<rect x="%s" y="%s" width="%s" height="%s"`, px(b.x), px(b.y), px(b.w), px(b.h))
	c.attributes(more)
	c.closeElement("rect", title)
}

func (c *canvas) circle(x, y, r float64, more string) {
	fmt.Fprintf(c, `<circle cx="%s" cy="%s" r="%s"`, px(x), px(y), px(r))
	c.attributes(more)
	c.WriteString("/>\n")
}

// text writes s with its baseline at y.
func (c *canvas) text(x, y float64, s, more string) {
	fmt.Fprintf(c, `<text x="%s" y="%s"`, px(x), px(y))
	c.attributes(more)
	c.WriteString(">" + escaped(s) + "</text>\n")
}

// closeElement closes an element, with words that a browser shows when the mouse rests on it.
func (c *canvas) closeElement(name, title string) {
	if title == "" {
		c.WriteString("/>\n")
		return
	}
	c.WriteString("><title>" + escaped(title) + "</title></" + name + ">\n")
}

// px is a coordinate to a tenth of a pixel.
func px(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// escaped makes text safe in XML; what XML cannot hold becomes a question mark.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case r < ' ' || r == 0xfffe || r == 0xffff || r == 0xfffd:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// textWidth is an upper bound in pixels, for the widest of the usual fonts without serifs.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case r == ' ' || r == '.' || r == ',' || r == ':' || r == '\'' || r == 'i' || r == 'l':
			w += 0.34
		case r == '-' || r == '/' || r == '(' || r == ')' || r == '"':
			w += 0.42
		case r >= 'A' && r <= 'Z':
			w += 0.70
		case r == 'm' || r == 'w' || r > 0x2000:
			w += 0.96
		default:
			w += 0.63
		}
	}
	return w * fontSize
}

// shortened cuts s to so many characters.
func shortened(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimRight(string(r[:most-1]), " ,;:") + "…"
}

// wrapped breaks words into lines of about so many characters.
func wrapped(s string, most int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += shortened(word, most)
	}
	return append(lines, line)
}
