package line

import "context"

// Borrow is Open for a command that asks something and leaves. A line that nobody else has opened is closed and
// forgotten when the last borrower gives it back; giveBack says what went wrong with closing.
func (ls *Lines) Borrow(url string) (line *Line, giveBack func() error, err error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	before := len(ls.lines)
	line, err = ls.openLocked(url)
	if err != nil {
		return nil, nil, err
	}
	if _, lent := ls.borrowers[line]; !lent && len(ls.lines) == before {
		return line, func() error { return nil }, nil
	}
	if ls.borrowers == nil {
		ls.borrowers = map[*Line]int{}
	}
	ls.borrowers[line]++
	return line, func() error { return ls.giveBack(line) }, nil
}

func (ls *Lines) giveBack(line *Line) error {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	n, lent := ls.borrowers[line]
	switch {
	case !lent: // it was opened for good meanwhile
		return nil
	case n > 1:
		ls.borrowers[line]--
		return nil
	}
	delete(ls.borrowers, line)
	delete(ls.lines, line.endpoint.Place)
	return line.HangUp(context.Background()) // nobody has it: it is free at once
}
